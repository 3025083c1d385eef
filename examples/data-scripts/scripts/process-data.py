"""Keeps the records whose score reaches the threshold."""

import argparse
import json
import os
import sys


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--records", help="the records as a JSON list")
    source.add_argument("--input-path", help="a file that holds the JSON list")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--output-dir", help="where kept.json is written; without it nothing is")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    if arguments.input_path:
        with open(arguments.input_path, encoding="utf-8") as file:
            records = json.load(file)
    else:
        records = json.loads(arguments.records)
    kept = [record for record in records if record.get("score", 0) >= arguments.threshold]
    print(f"{len(records) - len(kept)} of {len(records)} records are below {arguments.threshold}", file=sys.stderr)
    answer = {"count": len(kept), "dropped": len(records) - len(kept), "ids": [record["id"] for record in kept]}
    if arguments.output_dir:
        answer["output_file"] = os.path.join(arguments.output_dir, "kept.json")
        with open(answer["output_file"], "w", encoding="utf-8") as file:
            json.dump(kept, file, ensure_ascii=False, indent=2)
    print(json.dumps(answer, ensure_ascii=False))


main()
