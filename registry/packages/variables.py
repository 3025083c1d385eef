"""The environment variables that neither a package nor a secret may set."""

from __future__ import annotations

import re

# What a loader, a runtime, a shell, an HTTP client or the sandbox itself reads. NODE_ENV is the script's.
_TAKEN = re.compile(
    r"(LD|DENO|BASH|GLIBC|MALLOC|SKILL|SKILLQUAY)_.*|PYTHON.*|NODE_(?!ENV$).*|(HTTPS?|FTP|ALL|NO)_PROXY"
    r"|NPM_CONFIG_.*|JSR_URL|PATH|HOME|TMPDIR|SHELL|IFS|ENV|LANG|LC_ALL|LOCPATH|GCONV_PATH|SHELLOPTS|BASHOPTS|PS4|CDPATH"
    r"|PERL5(LIB|OPT|DB)|RUBY(LIB|OPT)|SSL_CERT_(FILE|DIR)|OPENSSL_(CONF|MODULES|ENGINES)",
    re.IGNORECASE,
)


def is_taken(name: str) -> bool:
    """Whatever its case: clients read ``http_proxy`` as they read ``HTTP_PROXY``."""
    return _TAKEN.fullmatch(name) is not None
