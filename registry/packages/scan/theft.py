"""Checks for theft of secrets, cryptocurrency mining, and keys in the files."""

import re
from collections.abc import Iterator
from itertools import islice

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.addresses import URL, address_in, host_kind
from registry.packages.scan.findings import Check, CheckHit
from registry.packages.scan.patterns import matches
from registry.packages.scan.text import ScannedText, SourceLine

_SECRET_PATHS = (
    r"(?:\.ssh/(?:id_\w{1,20}(?!\w|\.pub)|\*|config\b|\s|$|[\"'])|\bid_(?:rsa|ed25519"
    r"|ecdsa)\b(?!\.pub)|\.aws/(?:credentials|config)|\.config/gcloud"
    r"|\.kube/config|\.netrc\b|\.git-credentials|\.docker/config\.json|\.gnupg\b"
    r"|login data\b|cookies\.sqlite|key4\.db|logins\.json|wallet\.dat"
    r"|keychain-db|login\.keychain|find-generic-password|/etc/shadow|\.(?:clawdbot"
    r"|openclaw|moltbot|claude|codex|cursor)/[\w./-]{0,40}"
    r"(?:\.env|credentials|auth|config)\b|\.config/solana/id\.json|\.electrum|metamask"
    r"|\.bash_history|\.zsh_history|\.npmrc|\.pypirc)"
)
_ENVIRONMENT = (
    r"(?:json\.dumps\(\s*(?:dict\()?os\.environ|(?:json|data"
    r"|params)\s*=\s*(?:dict\()?os\.environ\b(?!\.get|\[)"
    r"|JSON\.stringify\(\s*process\.env\s*\)"
    r"|\burlencode\(\s*(?:dict\()?os\.environ\b(?!\.get|\[)|str\(os\.environ\))"
)
_SECRET = re.compile(
    rf"(?i){_SECRET_PATHS}|{_ENVIRONMENT}|(?:\bcat|\bbase64|<|@)\s?(?:[\w./~$-]{{0,60}}/)?\.env\b"
    rf"|(?<![\w-])\$?\(?(?:env|printenv|set)\b\)?\s*\|"
)
_SENDS = re.compile(
    r"(?i)\bcurl\b[^\n]{0,300}?\s(?:-d|--data[\w-]{0,10}|-F|--form|-T|--upload-file"
    r"|-X\s*(?:POST|PUT)|--json)\b|\bwget\b[^\n]{0,120}--post-"
    r"|requests\.(?:post|put|request)\(|httpx\.(?:post|put)\(|\burlopen\(|\bfetch\("
    r"|axios\.(?:post|put)\(|axios\(|sendBeacon\(|\bhttps?\.request\("
    r"|\|\s*(?:nc|ncat|netcat)\s+\S|\|\s*curl\b|\bscp\b[^\n]{0,120}\S@\S"
    r"|\bnc\s+[\w.-]{3,100}\s+\d{2,5}\s*<|Invoke-(?:WebRequest"
    r"|RestMethod)\b[^\n]{0,200}-Body"
)
_DROPS = re.compile(
    r"(?i)webhook\.site|requestbin|pipedream\.net|burpcollaborator|oastify|interact\.sh"
    r"|oast\.\w{2,6}|ngrok|beeceptor|hookbin|requestcatcher"
    r"|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|transfer\.sh|file\.io"
    r"|0x0\.st|\b(?:\d{1,3}\.){3}\d{1,3}\b"
)
_HINTS = (
    "curl",
    "wget",
    "requests.",
    "httpx",
    "urlopen",
    "fetch(",
    "axios",
    "sendbeacon",
    ".request(",
    "nc ",
    "ncat",
    "netcat",
    "scp ",
    "invoke-",
)
_CONTEXT_LINES = 25  # maximum lines of a script between reading and sending


def look_for_theft(text: ScannedText) -> Iterator[CheckHit]:
    """Finds commands that send data, with a secret on the same line or nearby in a script."""
    for line, found in matches(text, _SENDS, *_HINTS):
        address = address_in(line.text)
        if address and host_kind(address) == "own" and not _has_remote_address(line.text):
            continue
        secret = _SECRET.search(_without_headers(line.text))
        if secret:
            yield CheckHit(line, found.start(), found.end(), "critical", True)
        elif not text.is_prose or text.is_fenced(line):
            near = _without_headers(text.around(line, before=_CONTEXT_LINES, after=3))
            if _SECRET.search(near):
                drops = any(_is_drop(one.group(), near) for one in _DROPS.finditer(near))
                certain = drops or (_has_remote_address(near) and _sends_variable(text, line))
                yield CheckHit(line, found.start(), found.end(), "critical" if certain else "low", certain)


def _has_remote_address(near: str) -> bool:
    return any(host_kind(found.group()) != "own" for found in islice(URL.finditer(near), _MAX_ADDRESSES))


def _sends_variable(text: ScannedText, line: SourceLine) -> bool:
    """Whether the command that starts in ``line`` sends a variable that was assigned a secret above it."""
    tainted: set[str] = set()
    if len(line.text) > _MAX_STATEMENT:
        return False
    for row in text.around(line, before=_CONTEXT_LINES).split("\n")[:-1]:
        names = [found.group("name") or found.group("file") for found in _ASSIGNED.finditer(row[:300])]
        if names and (_SECRET.search(row) or tainted & set(_NAME.findall(row))):
            tainted |= set(names)
    command = _PASSED.sub("", _without_headers(text.around(line, after=3)).partition("\n\n")[0])
    return any(tainted & set(_NAME.findall(sent)) for sent in _SENT.findall(command))


_ASSIGNED = re.compile(
    r"(?:^|[\s({;])\$?(?P<name>[A-Za-z_]\w{0,40})\s*(?::\s*\w{1,20}\s*)?=(?![=>])|\bas\s+(?P<file>\w{1,40}):"
)
_MAX_STATEMENT = 500  # characters; longer lines are minified code, which reuses short names
_MAX_ADDRESSES = 20  # addresses checked per command
_NAME = re.compile(r"[A-Za-z_]\w*")
_PASSED = re.compile(r"(?i)\b(?:headers|auth|cert)\s*[=:]\s*(?:\{[^}]{0,300}\}|\([^)]{0,200}\)|\w{1,40})")
_SENT = re.compile(
    r"(?i)(?:\b(?:data|json|files|params|body|content)\s*[=:]|[^\w-](?:-d|--data[\w-]{0,10}|-F|--form|-T|-Body|--json)\s|,\s*)"
    r"\s{0,3}([^\n]{1,300})"
)


def _is_drop(found: str, near: str) -> bool:
    """Whether the match names a service that collects any data sent to it, or a public IP address."""
    return not found[0].isdigit() or host_kind(f"//{found}") == "bare"


_HEADER = re.compile(
    r"(?i)(?:-H|--header)\s*(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}')"
    r"|Authorization[^\n]{0,120}|(?:-u|--user|-i|--cert|--key|--netrc-file)\s+\S{1,200}"
)


def _without_headers(command: str) -> str:
    """The command without headers and login options, which may contain a secret for a legitimate reason."""
    return _HEADER.sub("", command)


_SEND_WORDS = (
    r"(?:\b(?:send|upload|post|transmit|forward|exfiltrate|submit|email|copy)(?:s|ing)?\b"
    r"|发送|上传|提交|回传|传送)"
)
_PROSE_SECRETS = (
    rf"(?:{_SECRET_PATHS}|seed phrase|recovery phrase|mnemonic phrase|private keys?\b"
    rf"|browser (?:cookies|passwords)|saved passwords|all (?:environment variables"
    rf"|(?:api )?keys|secrets|credentials|tokens)|助记词|私钥|所有(?:环境变量|密钥|凭证|密码))"
)
_SECRET_IN_PROSE = re.compile(f"(?i){_PROSE_SECRETS}")
_SENT_TO = re.compile(f"(?i){_SEND_WORDS}")
_MAX_SECRETS_PER_LINE = 10  # secrets checked per line
_MAX_DISTANCE = 140  # maximum characters between the secret, the verb and the address


def look_for_theft_instructions(text: ScannedText) -> Iterator[CheckHit]:
    """Finds sentences in prose that instruct the reader to send a secret to a URL."""
    for line in text.lines_with(("http",)) if text.is_prose else ():
        for secret in islice(_SECRET_IN_PROSE.finditer(line.text), _MAX_SECRETS_PER_LINE):
            address = URL.search(line.text, secret.end(), secret.end() + 2 * _MAX_DISTANCE)
            start = max(secret.start() - _MAX_DISTANCE, 0)
            if address is None or host_kind(address.group()) == "own":
                continue
            if _SENT_TO.search(line.text, start, address.start()):
                yield CheckHit(line, secret.start(), secret.end(), "critical", True)
                break


_MINES = re.compile(
    r"(?i)stratum(?:\+(?:tcp|ssl|tls))?://[\w.-]{3,200}|\b(?:xmrig|minerd|cpuminer"
    r"|xmr-stak|nbminer|t-rex|ethminer|lolminer|phoenixminer|coinhive(?:\.min\.js)?"
    r"|cryptonight)\b[^\n]{0,200}|--donate-level\b"
)
_STARTS = re.compile(
    r"(?i)stratum|--donate-level|\s-(?:o|u|a|-url|-user|-algo|-pool)\b|coinhive|\b(?:wget"
    r"|curl|chmod|nohup|install|download)\b|\./"
)


def look_for_miners(text: ScannedText) -> Iterator[CheckHit]:
    """Finds cryptocurrency miners. The address of a mining pool or ``--donate-level`` makes a hit certain."""
    for line, found in matches(text, _MINES, *_MINE_HINTS):
        is_pool = "stratum" in found.group().lower() or "--donate-level" in line.text
        if is_pool or _STARTS.search(line.text):
            yield CheckHit(line, found.start(), found.end(), "critical" if is_pool else "medium", is_pool)


_MINE_HINTS = (
    "stratum",
    "xmrig",
    "minerd",
    "cpuminer",
    "xmr-stak",
    "miner",
    "t-rex",
    "coinhive",
    "cryptonight",
    "--donate-level",
)

_KEYS = re.compile(
    r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}"
    r"|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}|sk-(?:proj-"
    r"|svcacct-)?[A-Za-z0-9_-]{20,200}"
    r"T3BlbkFJ[A-Za-z0-9_-]{20,200}|sk-ant-(?:api|admin)\d{2}-[A-Za-z0-9_-]{80,120}"
    r"|xox[abprs]-\d{10,13}-\d{10,13}-[A-Za-z0-9-]{20,80}|AIza[0-9A-Za-z_-]{35}"
    r"|(?:sk|rk)_live_[0-9A-Za-z]{24,99}|npm_[A-Za-z0-9]{36}|glpat-[A-Za-z0-9_-]{20}"
    r"|hf_[A-Za-z]{34}|SG\.[\w-]{22}\.[\w-]{43})(?![A-Za-z0-9])"
)
_KEY_HINTS = (
    "akia",
    "asia",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "t3blbkfj",
    "sk-ant-",
    "xox",
    "aiza",
    "_live_",
    "npm_",
    "glpat-",
    "hf_",
    "sg.",
    "private key-----",
)
_PRIVATE = re.compile(r"-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY-----")
_BODY = re.compile(r"^[\s\"'+]{0,20}[A-Za-z0-9+/]{60,}", re.MULTILINE)
_PLACEHOLDER = re.compile(
    r"(?i)example|xxxx|your|dummy|fake|sample|test|placeholder|redacted|1234567|abcdef|\.\.\."
)
_REPEATED = re.compile(r"(.)\1{5}")


def look_for_keys(text: ScannedText) -> Iterator[CheckHit]:
    """Finds API keys and private keys that look real. Quotes only the start of each key."""
    for line, found in matches(text, _KEYS, *_KEY_HINTS):
        if not (_PLACEHOLDER.search(found.group()) or _REPEATED.search(found.group())):
            yield CheckHit(line, found.start(), found.end(), "high", quote=f"{found.group()[:8]}…")
    for line, found in matches(text, _PRIVATE, "private key-----"):
        body = text.around(line, after=4)
        if _BODY.search(body) and not _PLACEHOLDER.search(body):
            yield CheckHit(line, found.start(), found.end(), "high", quote=found.group())


_READS_AND_SENDS = _("The skill reads a secret on the machine where it runs and sends it to another machine.")
CHECKS = (
    Check(
        "secret-sent",
        _READS_AND_SENDS,
        _(
            "Send only the data that the skill needs. If it needs secrets, list "
            "their names in `security.secrets` of SKILL.md, never their values."
        ),
        look_for_theft,
        _HINTS,
    ),
    Check(
        "secret-asked",
        _("The skill instructs the agent to send a secret from the agent's machine to a URL."),
        _(
            "Remove the instruction; if a service needs a key, read it from the user's "
            "configuration and send it in a header."
        ),
        look_for_theft_instructions,
        ("http",),
        is_instruction=True,
    ),
    Check(
        "miner",
        _("The skill mines cryptocurrency at the expense of the person running it."),
        _("Remove the cryptocurrency mining code from the skill."),
        look_for_miners,
        _MINE_HINTS,
    ),
    Check(
        "literal-key",
        _("The files contain an API key or a private key, which everyone who can read the skill can see."),
        _("Revoke the key at its issuer, and let users provide their own."),
        look_for_keys,
        _KEY_HINTS,
        counts_in_comments=True,
    ),
)
