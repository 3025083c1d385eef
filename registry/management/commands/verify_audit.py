import re
from typing import Any

from django.core.management.base import CommandError, CommandParser

from registry.audit_chain.verification import Mismatch, MismatchReason, Verification, verify
from registry.identity.permissions import Action, require
from registry.management.cli import USAGE_ERROR, ShellCommand

_HASH = re.compile(r"[0-9a-f]{64}")
_SENTENCES = {
    MismatchReason.CHANGED: "Entry {0} was changed after it was linked.",
    MismatchReason.MISSING: "Entry {0} is missing.",
    MismatchReason.OUT_OF_PLACE: "Entry {0} was inserted or moved.",
    MismatchReason.TRUNCATED: "Entry {0} and all later entries are missing.",
    MismatchReason.HEAD_UNKNOWN: (
        "No entry has the hash of --head. The last entries were removed or replaced."
    ),
}


class Command(ShellCommand):
    help = (
        "Verify the hash chain of the audit log and print its last hash. The exit status is 1 if an entry "
        "was changed, moved or removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--head",
            metavar="HASH",
            default="",
            help="a hash that this command printed earlier; the chain must contain it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        head = options["head"]
        if head and not _HASH.fullmatch(head):
            raise CommandError(
                "The value of --head is not a hash. Use the 64 hexadecimal digits that this command printed.",
                returncode=USAGE_ERROR,
            )
        require(self.actor(options), Action.USERS)
        result = verify(head=head, on_progress=self._print_progress)
        self.answer(_document(result), _lines(result), as_json=options["json"], ok=result.mismatch is None)

    def _print_progress(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\rVerified {done} of {total} entries", ending="" if done < total else "\n")


def _document(result: Verification) -> dict[str, Any]:
    mismatch = result.mismatch
    return {
        "ok": mismatch is None,
        "linked": result.linked,
        "unlinked": result.unlinked,
        "erased_values": result.erased_values,
        "head": {"sequence": result.sequence, "hash": result.head},
        "mismatch": mismatch
        and {
            "reason": mismatch.reason.value,
            "sequence": mismatch.sequence,
            "entry": mismatch.uid or None,
            "message": _sentence(mismatch),
        },
    }


def _lines(result: Verification) -> list[str]:
    mismatch = result.mismatch
    return [
        f"Verified entries: {result.linked}",
        f"Entries that are not linked yet: {result.unlinked}",
        f"Erased values: {result.erased_values}",
        f"Head: {result.head} (entry {result.sequence})",
        *([f"{_sentence(mismatch)} Id: {mismatch.uid or 'none'}"] if mismatch else []),
    ]


def _sentence(mismatch: Mismatch) -> str:
    return _SENTENCES[mismatch.reason].format(mismatch.sequence)
