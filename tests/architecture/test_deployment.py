"""The files in deploy/ name what exists: metrics, settings, commands, files and sets of packages."""

from __future__ import annotations

import importlib.metadata
import json
import re

import pytest
import yaml

from tests.conftest import ROOT

pytestmark = pytest.mark.row("P9")
DEPLOY = ROOT / "deploy"


def _texts():
    return {path: path.read_text() for path in DEPLOY.rglob("*") if path.is_file()}


def test_alerts_and_dashboard_use_documented_metrics():
    documented = (ROOT / "docs/howto/monitor-a-site.md").read_text()
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana/skillquay.json").read_text())["panels"]
    queries = [rule["expr"] for rule in alerts] + [t["expr"] for panel in panels for t in panel["targets"]]
    names = {name for query in queries for name in re.findall(r"skillquay_\w+", query)}
    assert len(names) >= 10
    assert {n for n in names if f"`{n.removesuffix('_bucket')}`" not in documented} == set()


def test_settings_in_deployment_files_exist():
    settings = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (ROOT / "docs/reference/settings.md").read_text()))
    own = {"SKILLQUAY_SECRETS_KEYS", "SKILLQUAY_SECRET_KEY"}
    for path, text in _texts().items():
        used = set(re.findall(r"\bSKILLQUAY_[A-Z0-9_]+|\b(?:DATABASE|REDIS|STORAGE)_URL", text))
        assert used <= settings | own, path


def test_compose_file_describes_a_whole_site():
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = document["services"]
    assert {"web", "worker", "reaper", "set-up", "database", "broker", "storage"} <= set(services)
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
    for name in ("web", "database", "broker", "storage"):
        assert "healthcheck" in services[name], name
    ours = services["web"]["environment"], services["worker"]["environment"]
    assert ours[0].items() <= ours[1].items()


def test_container_copies_files_that_exist():
    for line in (DEPLOY / "Containerfile").read_text().splitlines():
        if line.startswith("COPY") and "--from" not in line:
            *sources, _target = line.split()[1:]
            assert [name for name in sources if not (ROOT / name).exists()] == []


def test_sets_of_packages_are_disjoint_and_installed_here():
    pinned = {}
    for path in (ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))):
        for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==([^\s\\;]+)", path.read_text(), re.M):
            assert name not in pinned, name
            pinned[name] = version
    assert {name: importlib.metadata.version(name) for name in pinned} == pinned


def test_notice_and_sbom_list_each_package():
    notice = (ROOT / "NOTICE.md").read_text()
    sbom = json.loads((DEPLOY / "sbom.cdx.json").read_text())
    listed = {_canonical(each["name"]): each["version"] for each in sbom["components"]}
    for path in (ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))):
        for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==([^\s\\;]+)", path.read_text(), re.M):
            assert listed[_canonical(name)] == version, "run `make lock`"
            assert f"| {_canonical(name)} | {version} |" in notice, "run `make lock`"


def _canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_each_package_has_hashes():
    """A package without one would be refused at installation, together with all others."""
    for path in (
        ROOT / "requirements.txt",
        *(ROOT / "requirements").glob("*.txt"),
        ROOT / "tests/requirements.txt",
    ):
        blocks = re.split(r"\n(?=[A-Za-z])", path.read_text())
        assert [block.splitlines()[0] for block in blocks[1:] if "--hash=sha256:" not in block] == [], path
