"""The libraries that the packages use: a wheel of our own, click as it is installed, npm and JSR packages.

The npm packages ``commander`` and ``yargs`` are small imitations with the calls that the packages make.
"""

from __future__ import annotations

import json
from importlib.metadata import distribution

from tests.servers.package_index import PackageIndex, npm_archive, wheel

_CHEERFUL = {
    "cheerful/__init__.py": "from cheerful.face import FACE\ngreet = lambda who: f'hello {who} {FACE}'\n",
    "cheerful/face.py": "FACE = ':-)'\n",
}
_SMILE = "export const face = ':-)';\n"
_COMMANDER = """
const program = {
  names: [], options: {}, flags: {},
  name() { return this; },
  argument(text) { this.names.push(text); return this; },
  option(text, help, value) {
    const name = text.match(/--([a-z-]+)/)[1];
    this.flags[name] = text.includes("<");
    if (value !== undefined) this.options[name] = value;
    return this;
  },
  action(run) { this.run = run; return this; },
  parse(argv) {
    const words = argv.slice(2), given = [];
    while (words.length) {
      const word = words.shift(), name = word.slice(2);
      if (!word.startsWith("--")) given.push(word);
      else if (name in this.flags) this.options[name] = this.flags[name] ? words.shift() : true;
      else { console.error(`error: unknown option '${word}'`); process.exit(1); }
    }
    this.run(...given, this.options);
  },
};
exports.program = program;
"""
_YARGS = """
module.exports = (words) => ({
  values: {},
  option(name, { type, default: value }) {
    const at = words.indexOf(`--${name}`);
    const given = at < 0 ? value : words[at + 1];
    this.values[name] = type === "number" ? Number(given) : given;
    return this;
  },
  parse() { return this.values; },
});
"""


def _npm(name: str, main: str, **more: str) -> bytes:
    manifest = {"name": name, "version": "1.0.0", "main": "index.js", **more}
    return npm_archive({"package/package.json": json.dumps(manifest), "package/index.js": main})


NPM_PACKAGES = {
    "smile": _npm("smile", _SMILE, type="module"),
    "commander": _npm("commander", _COMMANDER),
    "yargs": _npm("yargs", _YARGS),
}


def add_libraries(index: PackageIndex) -> None:
    """Adds the libraries to the index: wheels below /simple/, others below /npm/ and /jsr/."""
    index.add("cheerful", wheel("cheerful", files=_CHEERFUL))
    click = distribution("click")
    sources = {str(file): file.read_text() for file in click.files or () if file.suffix == ".py"}
    index.add("click", wheel("click", click.version, files=sources), version=click.version)
    index.npm("grin", {"index.js": "exports.face = ':-)';\n"})
    index.jsr("@std/hello", {"/mod.ts": "export const hello = (who: string): string => `hello ${who}`;"})
    for name, archive in NPM_PACKAGES.items():
        index.files[f"/npm/{name}/-/{name}-1.0.0.tgz"] = archive
