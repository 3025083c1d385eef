#!/usr/bin/env bash
# Writes the hashes of all pinned packages, and the SBOM and notice file of those that sites install. `make lock` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
files="requirements.txt requirements/s3.txt requirements/models.txt"

"${PYTHON:-python3.11}" -m venv "$folder/tools"
"$folder/tools/bin/pip" install --quiet uv==0.13.9 cyclonedx-bom==7.5.0 pip-licenses==5.5.5
for file in $files tests/requirements.txt; do
  "$folder/tools/bin/uv" pip compile --quiet --no-deps --no-annotate --no-header --universal --python-version 3.11 \
    --generate-hashes --index-url https://pypi.org/simple "$file" -o "$folder/hashed"
  { grep '^#' "$file"; cat "$folder/hashed"; } > "$folder/file"
  mv "$folder/file" "$file"
done

"${PYTHON:-python3.11}" -m venv --without-pip "$folder/site"
"$folder/tools/bin/pip" --python "$folder/site/bin/python" install --quiet $(printf -- '-r %s ' $files)
"$folder/tools/bin/cyclonedx-py" environment --output-reproducible --output-file deploy/sbom.cdx.json "$folder/site/bin/python"
"$folder/tools/bin/pip-licenses" --python "$folder/site/bin/python" --format json --with-urls --with-system |
  "$folder/site/bin/python" -c '
import json, re, sys
print("# Notice\n\nSkillquay installs these packages. The packages contain the texts of their licenses.\n")
print("| package | version | license | address |\n|---|---|---|---|")
for row in sorted(json.load(sys.stdin), key=lambda row: row["Name"].lower()):
    name = re.sub(r"[-_.]+", "-", row["Name"]).lower()
    license = row["License"].split("\n")[0]
    print("| " + " | ".join([name, row["Version"], license, row["URL"]]) + " |")
' > NOTICE.md
