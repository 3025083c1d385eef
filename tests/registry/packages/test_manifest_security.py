"""Hosts, variables and permissions of a manifest."""

from __future__ import annotations

import pytest

from tests.registry.packages.manifests import manifest, problems, read

pytestmark = pytest.mark.row("C2")


OLDER = {
    "permissions: {network: true, filesystem: none}": ("allowlist", "none"),
    "permissions: {network: false, filesystem: read-only}": ("none", "read-only"),
    "permissions: {filesystem: read-write}": ("none", "read-only"),
    "permissions: {filesystem: false}": ("none", "none"),
    "permissions: {network: [api.example.com]}": ("allowlist", "read-only"),
    "security: {network: true}": ("allowlist", "read-only"),
    "security: {network: none}\npermissions: {network: true}": ("none", "read-only"),
    "security: {requires_filesystem: true}": ("none", "read-only"),
    "requires_filesystem: false": ("none", "none"),
    "requires_filesystem: true": ("none", "read-only"),
}


@pytest.mark.row("C6")
@pytest.mark.parametrize("front", OLDER)
def test_permissions_of_older_packages_become_security(front: str) -> None:
    security = manifest(front).security
    assert (security.network, security.filesystem) == OLDER[front]


@pytest.mark.row("C6")
@pytest.mark.parametrize("group", ["security", "permissions"])
def test_a_list_of_hosts_under_network_is_the_allowlist(group: str) -> None:
    front = f"{group}:\n  network: [a.example, 'b.example:8080']"
    security = manifest(front).security
    assert (security.network, security.network_allowlist) == ("allowlist", ("a.example", "b.example:8080"))
    assert problems(front) == []
    assert problems(f"{group}:\n  network: ['a b', c.example]") == [("FIELD_VALUE", 5)]
    assert manifest(f"{group}: {{network: []}}").security.network == "none"


def test_hosts_of_a_list_and_of_the_allowlist_are_joined() -> None:
    security = manifest("security: {network: [a.com, c.com], network_allowlist: [b.com, a.com]}").security
    assert (security.network, security.network_allowlist) == ("allowlist", ("b.com", "a.com", "c.com"))


def test_network_without_hosts_is_a_notice() -> None:
    assert problems("permissions: {network: true}") == [("NETWORK_WITHOUT_HOSTS", 4)]
    assert problems("security:\n  network: allowlist") == [("NETWORK_WITHOUT_HOSTS", 5)]
    assert read("name: x\ndescription: y\npermissions: {network: true}").ok


@pytest.mark.row("C6")
def test_a_path_in_the_allowlist_is_a_warning_since_only_host_and_port_are_enforced() -> None:
    listed = "security: {network: allowlist, network_allowlist: [%s]}"
    assert problems(listed % "'https://api.example.org/v1/data'") == [("NETWORK_PATH_IGNORED", 4)]
    for whole in ("'https://api.example.org/'", "'api.example.org:8443'", "'*.example.org'"):
        assert problems(listed % whole) == []


@pytest.mark.row("C6")
@pytest.mark.parametrize(
    ("written", "enforced"),
    [
        ("https://api.op\u0435nai.com:8443/v1", "https://api.xn--opnai-0we.com:8443/v1"),
        ("*.b\u00fccher.example", "*.xn--bcher-kva.example"),
        ("stra\u00dfe.example", "strasse.example"),
        ("API.example.org", "API.example.org"),
    ],
    ids=["letters that look alike", "below a name", "another letter", "ASCII"],
)
def test_hosts_are_kept_and_shown_as_the_proxy_enforces_them(written: str, enforced: str) -> None:
    security = manifest(f"security: {{network: allowlist, network_allowlist: ['{written}']}}").security
    assert security.network_allowlist == (enforced,)


TAKEN = ["LD_PRELOAD", "PYTHONPATH", "NODE_OPTIONS", "PATH", "HTTPS_PROXY", "no_proxy"]
TAKEN += ["SKILLQUAY_REQUEST_FDS"]


@pytest.mark.row("C6")
@pytest.mark.parametrize("name", TAKEN)
def test_a_variable_that_steers_the_sandbox_is_left_out_and_said(name: str) -> None:
    front = f"security:\n  environment:\n    ZONE: UTC\n    {name}: /skill/own"
    assert problems(front) == [("ENVIRONMENT_NAME_TAKEN", 7)]
    assert manifest(front).security.environment == {"ZONE": "UTC"}


@pytest.mark.row("C6")
@pytest.mark.parametrize("name", ["NODE_ENV", "PATHS", "LANGUAGES", "PYTHIA", "API_PATH"])
def test_a_variable_of_the_script_s_own_is_kept(name: str) -> None:
    front = f"security: {{environment: {{{name}: x}}}}"
    assert (problems(front), manifest(front).security.environment) == ([], {name: "x"})


WRONG_SECURITY = {
    "security: strict": ("FIELD_TYPE", 4),
    "security:\n  timeout_ms: 0": ("FIELD_VALUE", 5),
    "security:\n  timeout_ms: 99999999999999": ("FIELD_VALUE", 5),
    "security:\n  memory_mb: lots": ("FIELD_TYPE", 5),
    "security:\n  filesystem: readonly": ("FIELD_VALUE", 5),
    "security:\n  network: allow-list": ("FIELD_VALUE", 5),
    "security:\n  network: allowlist\n  network_allowlist: ['a b', c.com]": ("FIELD_VALUE", 6),
    "security:\n  environment:\n    'A-B': c": ("FIELD_VALUE", 6),
    "security:\n  environment:\n    A: [c]": ("FIELD_TYPE", 6),
    "security:\n  secrets: ['A B']": ("FIELD_VALUE", 5),
    "security:\n  secrets: [{name: A}]": ("FIELD_TYPE", 5),
    "permissions:\n  network: allowlst": ("FIELD_VALUE", 5),
}


@pytest.mark.row("C2", "C6")
@pytest.mark.parametrize("front", WRONG_SECURITY)
def test_wrong_security_value_is_an_error_in_every_profile(front: str) -> None:
    found = read(f"name: x\ndescription: y\n{front}")
    assert WRONG_SECURITY[front] in [
        (one.code, one.line) for one in found.problems if one.severity == "error"
    ]


@pytest.mark.row("C6")
@pytest.mark.parametrize("front", ["permissions: [Read, Write]", "permissions: {network: outbound}"])
def test_permissions_of_other_products_are_a_warning(front: str) -> None:
    assert read(f"name: x\ndescription: y\n{front}").ok


@pytest.mark.row("C2", "D1")
def test_name_and_description_fall_back_and_say_so() -> None:
    package = read(
        "tags: [a]", "# Title\n\n```\ncode\n```\n\nFirst words\nof it.\n\nSecond.", filename="stem.md"
    )
    assert (package.manifest.name, package.manifest.description) == ("stem", "First words of it.")
    assert [(one.code, one.line) for one in package.problems] == [
        ("NAME_FROM_FOLDER", None),
        ("DESCRIPTION_FROM_BODY", 10),
    ]
