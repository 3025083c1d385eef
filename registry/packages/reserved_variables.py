"""Environment variables that neither a package nor a secret may set."""

import re

# Loaders, runtimes, shells, HTTP clients or the sandbox read these. Packages may set NODE_ENV.
_RESERVED = re.compile(
    r"(LD|DENO|BASH|GLIBC|MALLOC|SKILL|SKILLQUAY)_.*|PYTHON.*|NODE_(?!ENV$).*|(HTTPS?|FTP|ALL|NO)_PROXY"
    r"|NPM_CONFIG_.*|JSR_URL|PATH|HOME|TMPDIR|SHELL|IFS|ENV|LANG|LC_ALL|LOCPATH|GCONV_PATH|SHELLOPTS|BASHOPTS|PS4|CDPATH"
    r"|PERL5(LIB|OPT|DB)|RUBY(LIB|OPT)|SSL_CERT_(FILE|DIR)|OPENSSL_(CONF|MODULES|ENGINES)",
    re.IGNORECASE,
)


def is_reserved(name: str) -> bool:
    """Whether the name is reserved. Ignores case, because clients read ``http_proxy`` like ``HTTP_PROXY``."""
    return _RESERVED.fullmatch(name) is not None
