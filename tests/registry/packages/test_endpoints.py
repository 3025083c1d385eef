"""Where a service is served: what is read of it, and what is said of hosts that nobody listed."""

from __future__ import annotations

import pytest

from registry.packages.manifest.endpoints import is_allowed
from registry.packages.problems import LazyMessage
from registry.packages.read_package import read_files

pytestmark = pytest.mark.row("C3")


def read(front, body="# Weather\n"):
    text = f"---\nname: weather\ndescription: d\nversion: 1.0.0\n{front}---\n{body}"
    return read_files([("SKILL.md", text.encode())])


@pytest.mark.parametrize(
    ("front", "endpoints"),
    [
        ("type: service\nendpoint: https://a.example/x\n", ("https://a.example/x",)),
        (
            "type: distributed\nendpoints: [https://a.example, https://b.example]\n",
            ("https://a.example", "https://b.example"),
        ),
        (
            "type: service\nendpoint: https://a.example\nendpoints: [https://a.example]\n",
            ("https://a.example",),
        ),
        ("type: service\nendpoint: /v1/weather\n", ()),
        ("type: service\nendpoint: https://user@a.example\n", ()),
        ("type: service\nendpoint: file:///etc/passwd\n", ()),
        ("type: direct\nendpoint: https://a.example\n", ()),
        ("endpoint: https://a.example\n", ()),
    ],
)
def test_endpoints_are_those_of_services(front, endpoints):
    package = read(front)
    assert package.manifest.endpoints == endpoints
    kept = "endpoint" in package.manifest.extra
    assert kept is (not endpoints)


def test_a_service_with_an_endpoint_needs_no_script():
    served = read("type: service\nendpoint: https://a.example\n")
    assert "SCRIPTS_MISSING" not in {one.code for one in served.problems}
    assert "SCRIPTS_MISSING" in {one.code for one in read("type: service\n").problems}


def test_a_host_that_nobody_listed_is_said_with_its_line():
    front = "type: service\nendpoint: https://a.example\n"
    front += "security: {network: allowlist, network_allowlist: [%s]}\n"
    (found,) = [one for one in read(front % "b.example").problems if one.code == "ENDPOINT_NOT_LISTED"]
    assert (found.line, found.severity) == (6, "warning")
    assert not [one for one in read(front % "a.example").problems if one.code == "ENDPOINT_NOT_LISTED"]


@pytest.mark.parametrize("host", ["[::::::]", "[1.2.3.4]", "[1.2.3.4]:443", "https://[fe80::z]/"])
def test_a_host_in_brackets_that_is_no_address_is_refused_and_allows_nothing(host):
    assert not is_allowed("https://a.example", [host])
    front = "type: service\nendpoint: https://a.example\n"
    front += f"security: {{network: allowlist, network_allowlist: ['{host}', b.example]}}\n"
    package = read(front)
    assert package.manifest.security.network_allowlist == ("b.example",)
    assert {"FIELD_VALUE", "ENDPOINT_NOT_LISTED"} <= {one.code for one in package.problems}


def test_an_ipv6_address_allows_itself():
    front = "type: service\nendpoint: 'https://[2606:4700::1111]/x'\n"
    front += "security: {network: allowlist, network_allowlist: ['[2606:4700::1111]:443']}\n"
    package = read(front)
    assert package.manifest.security.network_allowlist == ("[2606:4700::1111]:443",)
    assert "ENDPOINT_NOT_LISTED" not in {one.code for one in package.problems}


def test_too_many_endpoints_are_counted():
    urls = ", ".join(f"https://{number}.example" for number in range(9))
    package = read(f"type: service\nendpoints: [{urls}]\n")
    (found,) = [one for one in package.problems if one.code == "FIELD_VALUE"]
    counted = found.params["found"]
    assert isinstance(counted, LazyMessage)
    assert (dict(counted.params), len(package.manifest.endpoints)) == ({"count": 9}, 8)


def test_an_http_endpoint_is_kept_because_a_site_may_allow_its_address():
    url = "http://127.0.0.1:1/x"
    assert read(f"type: service\nendpoint: {url}\n").manifest.endpoints == (url,)
    problems = read("type: service\nendpoint: ftp://a.example\n").problems
    (found,) = [one for one in problems if one.code == "FIELD_VALUE"]
    assert "http:// only for" in str(found.params["expected"])


@pytest.mark.parametrize("kind", ["preprocessor", "direct", "internal", "service", "distributed"])
def test_every_type_but_static_and_served_ones_needs_a_script(kind):
    assert "SCRIPTS_MISSING" in {one.code for one in read(f"type: {kind}\n").problems}
