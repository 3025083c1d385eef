"""Classifies the host of a URL by its text, without a network request."""

import ipaddress
import re
from typing import Literal

HostKind = Literal["own", "installer", "bare", "plain", "other"]
URL = re.compile(r"(?i)\b(?:https?|ftp)://[^\s\"'`<>|)\]}\\]{1,300}")
_BARE = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:/[^\s\"'`|)]{0,200})?")
_HOST = re.compile(r"(?i)(?<![\w./@-])(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}/[^\s\"'`|)]{0,200}")
_LOCAL_SUFFIXES = (".local", ".localhost", ".internal", ".lan", ".test", ".example", ".invalid", ".home.arpa")
_LOCAL = frozenset({"localhost", "host.docker.internal", "example.com", "example.org", "example.net"})
_EXAMPLES = tuple(map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")))
INSTALLERS = frozenset(
    [
        "sh.rustup.rs",
        "get.docker.com",
        "astral.sh",
        "bun.sh",
        "deno.land",
        "fnm.vercel.app",
        "get.pnpm.io",
        "install.python-poetry.org",
        "pyenv.run",
        "sdk.cloud.google.com",
        "ollama.com",
        "ollama.ai",
        "get.helm.sh",
        "get.k3s.io",
        "raw.githubusercontent.com",
        "deb.nodesource.com",
        "rpm.nodesource.com",
        "get.sdkman.io",
        "starship.rs",
        "mise.run",
        "mise.jdx.dev",
        "cli.github.com",
        "install.determinate.systems",
        "nixos.org",
        "tailscale.com",
        "get.volta.sh",
        "download.docker.com",
        "claude.ai",
        "cursor.com",
        "foundry.paradigm.xyz",
        "sh.rustup.com",
        "release.solana.com",
        "release.anza.xyz",
        "get.rvm.io",
        "toolbelt.heroku.com",
        "cli-assets.heroku.com",
        "fly.io",
        "supabase.com",
        "aka.ms",
        "get.scoop.sh",
        "community.chocolatey.org",
        "dot.net",
        "get.haskellup.org",
        "get-ghcup.haskell.org",
        "git.io",
        "github.com",
        "gitlab.com",
        "bootstrap.pypa.io",
        "atuin.sh",
        "zed.dev",
        "opencode.ai",
        "openclaw.ai",
        "get.pulumi.com",
        "install.duckdb.org",
        "sh.brew.sh",
        "packages.microsoft.com",
        "pixi.sh",
        "code-server.dev",
        "ohmyz.sh",
        "apt.llvm.org",
        "get.trunk.io",
        "x.ai",
        "get.please.build",
        "get.jetpack.io",
    ]
)


def address_in(text: str) -> str:
    """The first URL in a command line, otherwise the first IPv4 address or the first host with a path.

    "" if there is none.
    """
    found = URL.search(text) or _BARE.search(text) or _HOST.search(text)
    return found.group() if found else ""


def host_of(address: str) -> str:
    rest = address.partition("://")[2] or address
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return host.rpartition(":")[0].lower() if re.search(r":\d*$", host) else host.lower()


def host_kind(address: str) -> HostKind:
    """The kind of the host, as judged by its text.

    - ``own``: this machine, a private network or a placeholder
    - ``bare``: a public IP address
    - ``installer``: a host in INSTALLERS
    - ``plain``: any other host, over HTTP without TLS
    - ``other``: all other hosts
    """
    host = host_of(address).strip("[]")
    if (
        not host
        or any(mark in host for mark in "<>${}%*")
        or host in _LOCAL
        or host.endswith(_LOCAL_SUFFIXES)
    ):
        return "own"
    number = _number(host)
    if number is not None:
        is_own = not number.is_global or any(number in network for network in _EXAMPLES)
        return "own" if is_own else "bare"
    if "." not in host or host.endswith((".example.com", ".example.org")) or "your" in host:
        return "own"
    if host in INSTALLERS:
        return "installer"
    return "plain" if address.lower().startswith("http://") else "other"


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address, written with dots or colons, as one number or in hexadecimal. None for a name."""
    try:
        if re.fullmatch(r"0x[0-9a-f]{1,8}|\d{8,10}", host):
            return ipaddress.ip_address(int(host, 0))
        return ipaddress.ip_address(host)
    except ValueError:
        return None
