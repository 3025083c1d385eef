"""Secrets that are read and sent, work that is done for others, keys that stand in the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.addresses import URL, address_in, kind_of
from registry.packages.scan.checks import Check, Seen
from registry.packages.scan.searching import matches
from registry.packages.scan.text import Text

_PLACES = (
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
_TAKEN = re.compile(
    rf"(?i){_PLACES}|{_ENVIRONMENT}|(?:\bcat|\bbase64|<|@)\s?(?:[\w./~$-]{{0,60}}/)?\.env\b"
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
_NEAR = 25  # lines of a script between reading and sending


def look_for_theft(text: Text) -> Iterator[Seen]:
    """A secret's place and a sending, on one line or near each other in a script."""
    for line, found in matches(text, _SENDS, *_HINTS):
        address = address_in(line.text)
        if address and kind_of(address) == "own":
            continue
        taken = _TAKEN.search(_without_headers(line.text))
        if taken:
            yield Seen(line, found.start(), found.end(), "critical", True)
        elif not text.is_prose or text.is_fenced(line):
            near = _without_headers(text.around(line, before=_NEAR, after=3))
            if _TAKEN.search(near):
                drops = any(_is_drop(one.group(), near) for one in _DROPS.finditer(near))
                yield Seen(line, found.start(), found.end(), "critical" if drops else "low", drops)


def _is_drop(found: str, near: str) -> bool:
    """A place that takes whatever is sent, or a public number: not a service by its name."""
    return not found[0].isdigit() or kind_of(f"//{found}") == "bare"


_HEADER = re.compile(
    r"(?i)(?:-H|--header)\s*(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}')"
    r"|Authorization[^\n]{0,120}|(?:-u|--user|-i|--cert|--key|--netrc-file)\s+\S{1,200}"
)


def _without_headers(command: str) -> str:
    """A secret in a header is used for what it is for."""
    return _HEADER.sub("", command)


_SEND_WORDS = (
    r"(?:\b(?:send|upload|post|transmit|forward|exfiltrate|submit|email|copy)(?:s|ing)?\b"
    r"|发送|上传|提交|回传|传送)"
)
_PROSE_SECRETS = (
    rf"(?:{_PLACES}|seed phrase|recovery phrase|mnemonic phrase|private keys?\b"
    rf"|browser (?:cookies|passwords)|saved passwords|all (?:environment variables"
    rf"|(?:api )?keys|secrets|credentials|tokens)|助记词|私钥|所有(?:环境变量|密钥|凭证|密码))"
)
_TOLD = re.compile(f"(?i){_PROSE_SECRETS}")
_SENT_TO = re.compile(f"(?i){_SEND_WORDS}")
_MOST_TOLD = 10  # secrets that one line may name
_APART = 140  # characters between a secret, its sending and where to


def look_for_told_theft(text: Text) -> Iterator[Seen]:
    """The same in a sentence: send this secret to that address."""
    for line in text.lines_with(("http",)) if text.is_prose else ():
        for secret in islice(_TOLD.finditer(line.text), _MOST_TOLD):
            address = URL.search(line.text, secret.end(), secret.end() + 2 * _APART)
            start = max(secret.start() - _APART, 0)
            if address is None or kind_of(address.group()) == "own":
                continue
            if _SENT_TO.search(line.text, start, address.start()):
                yield Seen(line, secret.start(), secret.end(), "critical", True)
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


def look_for_miners(text: Text) -> Iterator[Seen]:
    """Work done for others: a pool's address is enough."""
    for line, found in matches(text, _MINES, *_MINE_HINTS):
        is_pool = "stratum" in found.group().lower() or "--donate-level" in line.text
        if is_pool or _STARTS.search(line.text):
            yield Seen(line, found.start(), found.end(), "critical" if is_pool else "medium", is_pool)


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
_MADE_UP = re.compile(
    r"(?i)example|xxxx|your|dummy|fake|sample|test|placeholder|redacted|1234567|abcdef|\.\.\."
)
_REPEATED = re.compile(r"(.)\1{5}")


def look_for_keys(text: Text) -> Iterator[Seen]:
    """Keys that open something, unless they are plainly made up."""
    for line, found in matches(text, _KEYS, *_KEY_HINTS):
        if not (_MADE_UP.search(found.group()) or _REPEATED.search(found.group())):
            yield Seen(line, found.start(), found.end(), "high", quote=f"{found.group()[:8]}…")
    for line, found in matches(text, _PRIVATE, "private key-----"):
        body = text.around(line, after=4)
        if _BODY.search(body) and not _MADE_UP.search(body):
            yield Seen(line, found.start(), found.end(), "high", quote=found.group())


_READS_AND_SENDS = _("A secret of this machine is read and sent to another one.")
CHECKS = (
    Check(
        "secret-sent",
        _READS_AND_SENDS,
        _("Send only what the skill is for; let keys be given to it by name as secrets."),
        look_for_theft,
        _HINTS,
    ),
    Check(
        "secret-asked",
        _("The agent is told to send a secret of this machine to an address."),
        _("Take it out; a service that needs a key gets it in a header, from where the user keeps it."),
        look_for_told_theft,
        ("http",),
        of_words=True,
    ),
    Check(
        "miner",
        _("It works for a mining pool, at the cost of whoever runs it."),
        _("Take it out."),
        look_for_miners,
        _MINE_HINTS,
    ),
    Check(
        "literal-key",
        _("A key stands in the files, where everybody who sees the skill can read it."),
        _("Revoke the key where it was made, and let users give their own."),
        look_for_keys,
        _KEY_HINTS,
    ),
)
