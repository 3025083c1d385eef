#!/bin/bash
# Says whether a file exists and how many lines it has.
set -u
path=""
while [ "$#" -gt 0 ]; do
  case "$1" in
    --input-path) path="$2"; shift 2 ;;
    *) echo "unknown argument: $1" >&2; exit 2 ;;
  esac
done
if [ ! -f "$path" ]; then
  echo "no such file: $path" >&2
  echo '{"valid": false, "lines": 0}'
  exit 1
fi
echo "{\"valid\": true, \"lines\": $(wc -l < "$path")}"
