"""Packages with and without unsafe properties, for the tests of rules."""

from __future__ import annotations

from registry.packages.package import PackageFile, Security
from registry.rules import decision

SCRIPT = (PackageFile("scripts/main.py", b"print('{}')"),)
TOOLS = {"allowed_tools": ("Bash",)}
NETWORK = Security(network="allowlist", network_allowlist=("api.example",))


def decided(version, team, token=None):
    found = decision.decide(version, team=team, token=token)
    return found.outcome, found.by
