"""Computes the key by which failures are grouped, and their message without values that differ between runs.

These are pure functions without Django. Their time is linear in the message's length, which is limited.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_MESSAGE = 300  # characters of a normalized message
_MAX_READ = 2_000  # length of the start of a message that is considered
_MAX_TYPE = 200
_MAX_FILE = 300

# Each pattern replaces a kind of value; earlier ones take precedence. Identifiers count as numbers, because
# some consist of digits only.
_VALUES = (
    ("url", r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]++"),
    ("email", r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})++"),
    ("value", r"(?<!\w)(?:'[^'\n]*+'|\"[^\"\n]*+\"|`[^`\n]*+`)(?!\w)"),
    ("value", r"“[^”\n]*+”|‘[^’\n]*+’|「[^」\n]*+」|『[^』\n]*+』|«[^»\n]*+»"),
    ("value", r"(?<!\w)['\"`“‘「『«][^\n]*+$"),  # a quotation without its end
    ("date", r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
    ("date", r"\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b|\b\d{4}/\d{1,2}/\d{1,2}\b"),
    (
        "date",
        r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?\d{1,2} "
        r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6} \d{4}\b",
    ),
    ("time", r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"),
    ("n", r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    ("address", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![\w.]*\w)"),
    ("address", r"(?<![\w:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{1,4}(?![\w:])"),
    ("path", r"(?<![\w./\\~])(?:[A-Za-z]:\\|\\\\|~?/|\.{1,2}/)[^\s:;,()\[\]{}'\"<>]*+"),
    ("path", r"(?<![\w/])[\w.+@-]++(?:/[\w.+@=-]++)+/?"),
    (
        "path",
        r"(?<![\w.])[\w-]{1,100}(?:\.[\w-]{1,100})*\.(?:csv|tsv|json|jsonl|txt|log|pdf|xlsx?|docx?|png|"
        r"jpe?g|gif|zip|gz|tar|ya?ml|toml|xml|html?|md|sqlite|db|parquet)\b",
    ),
    ("n", r"\b0[xX][0-9a-fA-F]+\b|\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}\b"),
    ("n", r"(?<![A-Za-z0-9_])(?=[A-Za-z_]*\d[A-Za-z_]*\d)(?=\d*[A-Za-z_])[A-Za-z0-9_]{6,}"),
    ("n", r"(?<![\w-])[A-Za-z]{1,10}-\d[\w-]*"),
    ("n", r"[-+]?(?<![A-Za-z_\d])\d+(?:[.,_]\d+)*(?:[eE][-+]?\d+)?"),
)
_ANY_VALUE = re.compile("|".join(f"(?P<{name}_{n}>{form})" for n, (name, form) in enumerate(_VALUES)))
_SPACE = re.compile(r"\s+")
_REPEATED = re.compile(r"(<\w{1,9}>)(?:[\s,;:|/=-]{1,3}\1)+")  # so that lists of different lengths are equal


@dataclass(frozen=True)
class FailureSignature:
    """The properties that the failures of one group share. ``type`` is "" if it only repeats the failure
    code.

    ``message`` is normalized. ``file`` is the package file of the innermost frame, without the line, which
    changes with each version.
    """

    failure_code: str
    type: str
    message: str
    file: str

    def key(self, skill_id: int) -> str:
        """The group's key: 32 hexadecimal digits."""
        parts = (str(skill_id), self.failure_code, self.type, self.message, self.file)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def kind_of(failure_code: str, message: str, cause: Mapping[str, Any]) -> FailureSignature:
    """The signature of a failure, from a run's failure code, message and cause; ``cause`` can be empty."""
    name = str(cause.get("type") or "")
    return FailureSignature(
        failure_code,
        "" if name == failure_code else name[:_MAX_TYPE],
        normalize(str(cause.get("message") or "") or message),
        str(cause.get("file") or "")[:_MAX_FILE],
    )


def normalize(message: str) -> str:
    """The message in one line of at most ``MAX_MESSAGE`` characters, with placeholders such as ``<n>`` and
    ``<path>`` for values.
    """
    text = _ANY_VALUE.sub(_placeholder, message[:_MAX_READ])
    text = _SPACE.sub(" ", _REPEATED.sub(r"\1", text)).strip()
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _placeholder(found: re.Match[str]) -> str:
    assert found.lastgroup
    return f"<{found.lastgroup.rpartition('_')[0]}>"
