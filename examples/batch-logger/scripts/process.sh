#!/bin/bash
# Writes one line about a path to a log.
folder=/tmp
while [[ $# -gt 0 ]]; do
  case "$1" in
    --input-path) input="$2" ;;
    --output-dir) folder="$2" ;;
    *) echo "unknown argument: $1" >&2; exit 1 ;;
  esac
  shift 2
done
: "${input:?--input-path is required}"
printf 'processing %s\n' "$input" | tee "$folder/process.log" >&2
printf '{"log_file": "%s", "status": "done"}\n' "$folder/process.log"
