"""What scripts need is read from their text."""

from __future__ import annotations

import time

import pytest

from registry.packages.needs import from_document, read_needs, to_document
from registry.packages.needs.distributions import distribution_of
from registry.packages.needs.read_needs import MAX_CHARACTERS, MAX_ITEMS
from registry.packages.needs.script_needs import ScriptNeeds
from registry.packages.package import PackageFile

pytestmark = pytest.mark.row("A8")


def read_one(text: str | bytes, path: str = "scripts/main.py", **others: str) -> ScriptNeeds:
    files = {name.replace("__", "/").replace("_py", ".py"): data.encode() for name, data in others.items()}
    source = text if isinstance(text, bytes) else text.encode()
    return read_package_files({**files, path: source}, path)


def read_package_files(files: dict[str, bytes], path: str) -> ScriptNeeds:
    return read_needs([PackageFile(name, data) for name, data in files.items()], [path])[0]


def required(needs: ScriptNeeds) -> set[str]:
    return {each.name for each in needs.modules if each.required}


def optional(needs: ScriptNeeds) -> set[str]:
    return {each.name for each in needs.modules if not each.required}


def test_unguarded_imports_are_required():
    needs = read_one("import os, json\nimport requests\nfrom bs4 import BeautifulSoup\n")
    assert required(needs) == {"requests", "bs4"}


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\n",
        "try:\n    import tomllib as yaml\nexcept ImportError:\n    import yaml\n",
        "try:\n    import yaml\nexcept Exception:\n    import json as yaml\n",
        "import contextlib\nwith contextlib.suppress(ImportError):\n    import yaml\n",
        "def load():\n    import yaml\n",
        "import sys\nif sys.platform == 'darwin':\n    import yaml\n",
    ],
)
def test_guarded_imports_are_optional(text):
    needs = read_one(text)
    assert (required(needs), optional(needs)) == (set(), {"yaml"})


@pytest.mark.parametrize(
    "text",
    [
        "import sys\ntry:\n    import yaml\nexcept ImportError:\n    print('install it')\n    sys.exit(1)\n",
        "try:\n    import yaml\nexcept ImportError as error:\n    raise SystemExit from error\n",
        "try:\n    import yaml\nexcept ValueError:\n    pass\n",
        "if __name__ == '__main__':\n    import yaml\n",
        "def load():\n    import yaml\nimport yaml\n",
    ],
)
def test_imports_whose_failure_ends_the_script_are_required(text):
    assert required(read_one(text)) == {"yaml"}


def test_imports_for_type_checkers_are_not_needed():
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\n"
    assert read_one(text).modules == ()


def test_files_of_the_package_are_not_needed_but_their_imports_are():
    needs = read_one("import helper\nhelper.go()\n", scripts__helper_py="import numpy\n")
    assert required(needs) == {"numpy"}


def test_import_of_a_guarded_file_stays_optional():
    text = "try:\n    import helper\nexcept ImportError:\n    pass\n"
    assert optional(read_one(text, scripts__helper_py="import numpy\n")) == {"numpy"}


def test_relative_imports_and_packages_are_followed():
    needs = read_one(
        "from tool.reader import read\n",
        scripts__tool____init___py="",
        scripts__tool__reader_py="from . import deep\n",
        scripts__tool__deep_py="import lxml\n",
    )
    assert required(needs) == {"lxml"}


def test_module_that_only_another_folder_has_is_needed():
    """The interpreter finds a module only in the script's folder: a folder elsewhere does not provide it."""
    assert required(read_one("import pptx\n", ooxml__pptx__reader_py="")) == {"pptx"}
    text = "import sys\nsys.path.insert(0, 'ooxml')\nimport pptx\n"
    assert required(read_one(text, ooxml__pptx__reader_py="")) == set()


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("docx", "python-docx"),
        ("docx.shared", "python-docx"),
        ("yaml", "pyyaml"),
        ("google.genai", "google-genai"),
        ("google.cloud.storage", "google-cloud-storage"),
        ("huggingface_hub", "huggingface-hub"),
        ("google", ""),
        ("google.unknown", ""),
        ("reqeusts", ""),
        ("pillow_extra", ""),
    ],
)
def test_only_names_of_the_table_have_a_distribution(module, distribution):
    assert distribution_of(module) == distribution


def test_members_of_shared_names_are_told_apart():
    needs = read_one("from google import genai\nfrom google.cloud import storage, unheard_of\n")
    assert {each.name: each.distribution for each in needs.modules} == {
        "google.genai": "google-genai",
        "google.cloud.storage": "google-cloud-storage",
        "google.cloud.unheard_of": "",
    }


def test_programs_that_python_calls():
    text = (
        "import os, subprocess\nfrom subprocess import check_output\n"
        "subprocess.run(['soffice', '--headless'])\ncheck_output(['pdftoppm', path])\n"
        "cmd = ['ffmpeg', '-i', name]\nsubprocess.Popen(cmd)\nos.system('jq . file')\n"
        "subprocess.run(f'gh pr view {number}', shell=True)\nsubprocess.run([sys.executable, 'x'])\n"
        "subprocess.run(['ls'])\nsubprocess.run(['./own.sh'])\nprint.run(['curl'])\n"
    )
    assert read_one(text).programs == ("ffmpeg", "gh", "jq", "pdftoppm", "soffice")


def test_hosts_of_requests_and_no_namespaces():
    text = (
        '"""See https://docs.python.org/3/."""\nimport requests\n'
        "URL = 'https://api.crossref.org/works'\nrequests.get(f'https://api.github.com/repos/{name}')\n"
        "NS = 'http://www.w3.org/2000/svg'\nprint('https://printed.io/')\nX = 'http://localhost:8000/'\n"
        "Y = 'https://{host}.cloud.io/'\nZ = 'https://box.io:8443/a'\n"
    )
    assert read_one(text).hosts == ("api.crossref.org", "api.github.com", "box.io:8443")


def test_keys_are_read_from_the_environment():
    text = (
        "import os\nfrom os import environ\nos.environ['OPENAI_API_KEY']\nos.getenv('GITHUB_TOKEN', '')\n"
        "environ.get('DB_PASSWORD')\nos.environ.get('HOME')\nos.getenv('MAX_TOKENS')\n{}.get('OTHER_TOKEN')\n"
    )
    assert read_one(text).keys == ("DB_PASSWORD", "GITHUB_TOKEN", "OPENAI_API_KEY")


def test_shell_script_names_programs_hosts_and_keys():
    text = (
        '#!/bin/bash\nset -e\nhelper() { ffmpeg -i "$1" out.mp3; }\nKEY_FILE=x\n'
        "if [ -f a ]; then docker ps; fi\n"
        'curl -H "Authorization: Bearer ${API_TOKEN:-}" "https://api.github.com/user" | jq .name\n'
        'LOCAL_TOKEN=abc\necho "$LOCAL_TOKEN" "$HOME"\nhelper in.wav\nsudo -u me rsync a b\n'
    )
    needs = read_one(text, "scripts/main.sh")
    assert needs.programs == ("curl", "docker", "ffmpeg", "jq", "rsync")
    assert needs.first_programs == ("curl", "jq", "rsync")
    assert needs.hosts == ("api.github.com",)
    assert needs.keys == ("API_TOKEN",)


def test_looked_up_commands_are_no_calls():
    assert read_one("command -v jq || exit 1\n", "scripts/a.sh").programs == ()


def test_javascript_names_packages_programs_hosts_and_keys():
    text = (
        "const { Command } = require('commander');\nimport fs from 'node:fs';\n"
        "import x from '@scope/pkg/sub';\n"
        "import path from 'path';\nimport './own.js';\nimport type { A } from 'types-only';\n"
        "async function late() { await import('chalk'); }\nconst c = require('child_process');\n"
        "c.execFileSync('git', ['log']);\nfetch(`https://api.crossref.org/works/${id}`);\n"
        "const key = process.env.GITHUB_TOKEN;\nconst home = process.env['HOME'];\n"
    )
    files = {"scripts/main.js": text.encode(), "scripts/own.js": b"require('dotenv')"}
    needs = read_package_files(files, "scripts/main.js")
    assert required(needs) == {"@scope/pkg", "commander", "dotenv"}
    assert optional(needs) == {"chalk"}
    assert (needs.programs, needs.hosts) == (("git",), ("api.crossref.org",))
    assert needs.keys == ("GITHUB_TOKEN",)


def test_typescript_imports_by_scheme():
    text = 'import { z } from "npm:zod@3.22";\nimport { assert } from "jsr:@std/assert";\n'
    needs = read_one(text, "scripts/main.ts")
    assert {(each.name, each.ecosystem) for each in needs.modules} == {
        ("npm:zod", "deno"),
        ("jsr:@std/assert", "deno"),
    }


def test_modules_of_declared_dependencies_are_declared():
    files = {
        "requirements.txt": b"python-docx==1.1\n",
        "scripts/main.py": b"# /// script\n# dependencies = ['oddname>=2']\n# ///\n"
        b"import docx, oddname, yaml\n",
    }
    needs = read_package_files(files, "scripts/main.py")
    assert {each.name: each.declared for each in needs.modules} == {
        "docx": True,
        "oddname": True,
        "yaml": False,
    }


def test_document_gives_the_needs_back():
    needs = read_one("import requests, os\nos.environ['A_TOKEN']\n")
    assert from_document(to_document(needs)) == needs


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("scripts/a.py", b"import " + b"a." * 40_000 + b"b\n"),
        ("scripts/a.py", b"x = " + b"(" * 60_000),
        ("scripts/a.py", b"import os\n" + b"x = -" + b"-" * 90_000 + b"1\n"),
        ("scripts/a.py", b"x = 1" + b" + 1" * 60_000),
        ("scripts/a.py", b"\x00\xff\xfe" * 1000),
        ("scripts/a.py", b"x\n" * MAX_CHARACTERS),
        ("scripts/a.py", b"".join(b"import m%d\n" % number for number in range(15_000))),
        ("scripts/a.sh", b"$(" * 60_000),
        ("scripts/a.sh", b"if x; then " * 20_000),
        ("scripts/a.js", b"`${" * 60_000),
        ("scripts/a.js", b"require('./a.js');" * 10_000),
        ("scripts/a.ts", b"import " * 30_000),
    ],
)
def test_hostile_scripts_are_read_within_a_limit(path, data):
    started = time.monotonic()
    needs = read_package_files({path: data}, path)
    assert time.monotonic() - started < 8
    assert len(needs.modules) <= MAX_ITEMS


def test_files_that_import_each_other_end():
    files = {f"scripts/m{n}.py": f"import m{(n + 1) % 200}, z{n}\n".encode() for n in range(200)}
    needs = read_package_files(files, "scripts/m0.py")
    assert not needs.complete
    assert "z0" in required(needs)
