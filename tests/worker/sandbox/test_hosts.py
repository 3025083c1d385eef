"""Which host and port an allowlist lets a run reach."""

from __future__ import annotations

import pytest

from worker.sandbox.egress import allowed_hosts

pytestmark = [pytest.mark.row("C6"), pytest.mark.matrix("tier", at_most=1)]

LISTED = (
    "api.example.org",
    "*.wild.example",
    "ports.example:8443",
    "https://site.example/v1/",
    "http://plain.example",
    "192.0.2.7",
    "[2001:db8::1]:8080",
    "Bücher.example",
)
ASKED = {
    ("api.example.org", 443): "",
    ("api.example.org", 80): "",
    ("api.example.org", 22): "NETWORK_PORT_REFUSED",
    ("example.org", 443): "NETWORK_HOST_REFUSED",
    ("a.api.example.org", 443): "NETWORK_HOST_REFUSED",
    ("a.b.wild.example", 443): "",
    ("wild.example", 443): "NETWORK_HOST_REFUSED",
    ("evilwild.example", 443): "NETWORK_HOST_REFUSED",
    ("ports.example", 8443): "",
    ("ports.example", 443): "NETWORK_PORT_REFUSED",
    ("site.example", 443): "",
    ("site.example", 80): "NETWORK_PORT_REFUSED",
    ("plain.example", 80): "",
    ("plain.example", 443): "NETWORK_PORT_REFUSED",
    ("192.0.2.7", 80): "",
    ("192.0.2.8", 80): "NETWORK_ADDRESS_LITERAL",
    ("2001:db8::1", 8080): "",
    ("::1", 8080): "NETWORK_ADDRESS_LITERAL",
    ("0x7f.1", 80): "NETWORK_ADDRESS_LITERAL",
    ("2130706433", 80): "NETWORK_ADDRESS_LITERAL",
    ("xn--bcher-kva.example", 443): "",
}


def test_host_and_port_are_held_to_the_list():
    listed = allowed_hosts.parse_allowlist(LISTED)
    found = {
        (host, port): allowed_hosts.refusal_code(allowed_hosts.normalize_host(host), port, listed)
        for host, port in ASKED
    }
    assert found == ASKED


@pytest.mark.parametrize("written", ["API.Example.org", "api.example.org.", "Api.EXAMPLE.org."])
def test_a_host_is_compared_however_it_is_written(written):
    assert allowed_hosts.normalize_host(written) == "api.example.org"


def test_an_empty_list_refuses_everything():
    assert (
        allowed_hosts.refusal_code("api.example.org", 443, allowed_hosts.parse_allowlist(()))
        == "NETWORK_HOST_REFUSED"
    )
