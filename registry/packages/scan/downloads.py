"""Checks for harmful downloads: archives with a given password, programs to run first, and paste sites."""

import re
from collections.abc import Iterator

from registry.packages.problems import gettext_noop as _
from registry.packages.scan.addresses import URL, host_kind, host_of
from registry.packages.scan.findings import Check, CheckHit
from registry.packages.scan.patterns import matches
from registry.packages.scan.text import ScannedText, SourceLine

_ARCHIVE = re.compile(r"(?i)\.(?:zip|rar|7z|tar\.gz|dmg|iso|exe)\b|\barchive\b|压缩包|安装包")
_WORD = r"(?:\b(?:pass(?:word|code|phrase)?|pwd|pw)\b|密码|口令|解压码)"
_VALUE = r"(?P<value>[A-Za-z0-9][\w.!@#$%-]{1,39})"
_MARKS = r"[`\"'*_“”‘’「」『』]{0,4}"
_PASSWORD = re.compile(
    rf"(?i){_WORD}[`\"'*_)\]]{{0,4}}\s{{0,3}}(?:is|are|为|是|[:：=→])\s{{0,3}}{_MARKS}{_VALUE}"
)
_WITH_PASSWORD = re.compile(
    rf"(?i)(?:\b(?:with|using|enter|use)\s+(?:the\s+)?{_WORD}\s{{1,3}}|(?:解压)?(?:密码|口令|解压码)\s{{0,3}})"
    rf"{_MARKS}(?=(?<=[`\"'*“‘「『])|[A-Za-z_-]{{0,30}}\d){_VALUE}"
)
_ARCHIVE_ADDRESS = re.compile(
    r"(?i)https?://[^\s\"'`<>)\]]{4,300}?\.(?:zip|rar|7z|tar\.gz|tgz|dmg|iso|exe|msi|pkg)\b"
)
_PASSWORD_OPTION = re.compile(
    r"(?i)\b(?:unzip\s[^\n]{0,80}?-P\s?|7z[az]?\s+[xe]\s[^\n]{0,80}?-p"
    r"|unrar\s+[xe]\s[^\n]{0,80}?-p)(?P<value>[\w.!@#%-]{2,40})"
)
_NOT_A_PASSWORD = frozenset(
    [
        "required",
        "optional",
        "protected",
        "your",
        "yourpassword",
        "password",
        "needed",
        "not",
        "the",
        "a",
        "an",
        "set",
        "stored",
        "string",
        "none",
        "null",
        "true",
        "false",
        "changeme",
        "secret",
        "xxx",
        "example",
        "pass",
        "in",
        "for",
        "used",
        "hidden",
        "correct",
        "encrypted",
        "valid",
        "invalid",
        "any",
        "str",
        "must",
        "only",
        "prompted",
        "wrong",
    ]
)
_FETCHED = re.compile(r"(?i)https?://|\bdownload|\bcurl\b|\bwget\b|下载")
_OPENED = re.compile(
    r"(?i)\b(?:extract|unzip|unpack|open|run|execut|launch|install)|解压|运行|执行|安装|打开"
)


def look_for_locked(text: ScannedText) -> Iterator[CheckHit]:
    """Finds archives whose password is in the text. Such a password keeps scanners out, but not readers."""
    for pattern in (_PASSWORD, _WITH_PASSWORD):
        for line, found in matches(text, pattern, *_PASSWORD_HINTS):
            if _is_password(found["value"]) and _has_archive(text, line):
                yield CheckHit(line, found.start(), found.end(), "critical", True)
    for line, found in matches(text, _PASSWORD_OPTION, "unzip", "7z", "unrar"):
        near = text.around(line, before=_NEAR_LINES)
        is_fetched = text.has(_ARCHIVE_ADDRESS) or bool(URL.search(near))
        yield CheckHit(line, found.start(), found.end(), "critical" if is_fetched else "medium", is_fetched)


_PASSWORD_HINTS = ("pass", "pw", "密码", "口令", "解压码")


def _is_password(value: str) -> bool:
    value = value.lower().strip(".!")
    return value not in _NOT_A_PASSWORD and not value.startswith(("your-", "your_"))


def _has_archive(text: ScannedText, line: SourceLine) -> bool:
    """Whether the text downloads and opens an archive, anywhere if it has the address of one.

    Without such an address, the archive must be near the line.
    """
    if text.has(_ARCHIVE_ADDRESS):
        return text.has(_OPENED)
    near = text.around(line, before=_NEAR_LINES, after=_NEAR_LINES)
    return all(pattern.search(near) for pattern in (_ARCHIVE, _FETCHED, _OPENED))


_NEAR_LINES = 12  # between an archive and its password


_PROGRAM = re.compile(
    r"(?i)(?P<url>https?://[^\s\"'`<>)\]]{4,300}?\.(?:exe|msi|scr|bat|cmd|ps1|pkg|dmg|jar"
    r"|apk|zip))(?=[\s\"'`<>)\]?#]|$)"
)
_INSISTS = re.compile(
    r"(?i)\bbefore\s+(?:using|running|you\s+(?:can\s+)?use|proceeding|continuing|starting)"
    r"|\bmust\s+(?:be\s+)?(?:first\s+)?"
    r"(?:run|running|install|installed|download|launch)|\bwill\s+not\s+(?:work|function)"
    r"|\bdoes\s*n[o']t\s+work\s+without"
    r"|\brequired\s+(?:to\s+function|for\s+this\s+skill)"
    r"|\brequires?\s+the\b[^.\n]{0,60}\b(?:utility|agent|driver|helper|tool)\b"
    r"|\brun\s+(?:it\s+|this\s+)?first\b|必须先|首先(?:下载|运行|安装)|使用(?:本|此|该)?技能?(?:之?前)|否则(?:无法|不能)"
)
_RUN_IT = re.compile(r"(?i)\b(?:run|execut\w{0,4}|launch|double[- ]click|install)\b|运行|执行|双击|安装")
_ALWAYS_PROGRAMS = (".exe", ".msi", ".scr", ".bat", ".cmd", ".pkg", ".dmg")


def look_for_run_first(text: ScannedText) -> Iterator[CheckHit]:
    """Finds downloads of programs that the user must run before the skill works."""
    for line, found in matches(
        text,
        _PROGRAM,
        *(f".{end}" for end in ["exe", "msi", "scr", "bat", "cmd", "ps1", "pkg", "dmg", "jar", "apk", "zip"]),
    ):
        near = text.around(line, before=4, after=4)
        kind = host_kind(found["url"])
        if kind == "own" or not (_INSISTS.search(near) and _RUN_IT.search(near)):
            continue
        is_certain = kind == "bare" or (
            _is_public_upload_host(found["url"]) and found["url"].lower().endswith(_ALWAYS_PROGRAMS)
        )
        yield CheckHit(line, found.start(), found.end(), "high" if is_certain else "medium", is_certain)


_PUBLIC_UPLOAD_HOSTS = (
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "bitbucket.org",
    "dropbox.com",
    "drive.google.com",
    "mediafire.com",
    "mega.nz",
    "discordapp.com",
    "gofile.io",
    "anonfiles.com",
    "file.io",
    "transfer.sh",
    "catbox.moe",
    "pixeldrain.com",
)


def _is_public_upload_host(address: str) -> bool:
    """Whether anyone can publish files on the host."""
    host = host_of(address)
    return any(host == end or host.endswith("." + end) for end in _PUBLIC_UPLOAD_HOSTS)


_PASTE = re.compile(
    r"(?i)\b(?:https?://)?(?:www\.)?(?:glot\.io|pastebin\.com|rentry\.(?:co|org)|paste\.ee"
    r"|hastebin\.com|ghostbin\.\w{2,4}|dpaste\.(?:com|org)"
    r"|controlc\.com|0x0\.st|termbin\.com|privatebin\.net|text\.is|pastes\.dev|paste\.rs"
    r"|ix\.io|sprunge\.us|justpaste\.it|telegra\.ph"
    r"|transfer\.sh|bpa\.st|katb\.in|snippet\.host|codepad\.site|paste\.mozilla\.org)/[\w./?=&-]{1,200}"
)
_COPIED = re.compile(
    r"(?i)\b(?:copy|paste)\b[^\n]{0,120}\b(?:terminal|command|script|shell|powershell"
    r"|code)\b|\b(?:run|execute)\b[^\n]{0,60}\b(?:script|command"
    r"|snippet|code|it|this)\b|\|\s*(?:sudo\s+)?(?:ba|z)?sh\b|\b(?:bash|sh|source|eval"
    r"|exec)\b[^\n]{0,30}(?:\(|curl|wget)"
    r"|复制[^\n]{0,40}(?:终端|命令|粘贴)|(?:执行|运行)[^\n]{0,40}(?:脚本|命令|代码)|在?终端[^\n]{0,20}(?:执行|运行|粘贴)"
)


def look_for_pastes(text: ScannedText) -> Iterator[CheckHit]:
    """Finds addresses on paste sites, whose content can change at any time.

    An address is critical if the text nearby says to run its content, otherwise low.
    """
    for line, found in matches(text, _PASTE, *_PASTE_HINTS):
        is_run = bool(_COPIED.search(text.around(line, before=2, after=2)))
        yield CheckHit(line, found.start(), found.end(), "critical" if is_run else "low", is_run)


_PASTE_HINTS = (
    "glot.io",
    "paste",
    "rentry.",
    "hastebin",
    "ghostbin",
    "controlc",
    "0x0.st",
    "termbin",
    "privatebin",
    "text.is",
    "ix.io",
    "sprunge",
    "telegra.ph",
    "transfer.sh",
    "bpa.st",
    "katb.in",
    "snippet.host",
    "codepad",
)


CHECKS = (
    Check(
        "locked-archive",
        _(
            "The skill downloads a password-protected archive and supplies the password, which hides "
            "the content from scanners."
        ),
        _(
            "Let the skill download the file without a password and state the file's digest "
            "next to the address, or include the file in the package."
        ),
        look_for_locked,
        (*_PASSWORD_HINTS, "unzip", "7z", "unrar"),
    ),
    Check(
        "run-first",
        _("The skill requires downloading and running a program before it works."),
        _(
            "Use a package from a package manager instead, or link to the download page of the "
            "program's own publisher and state the digest of the file."
        ),
        look_for_run_first,
        tuple(
            f".{end}" for end in ["exe", "msi", "scr", "bat", "cmd", "ps1", "pkg", "dmg", "jar", "apk", "zip"]
        ),
    ),
    Check(
        "paste-and-run",
        _("The skill refers to a paste site, whose content can change at any time."),
        _("Put the content from that site into the package, and remove the link."),
        look_for_pastes,
        _PASTE_HINTS,
    ),
)
