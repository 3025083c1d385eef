"""``python -m tests.registry.links.linking``: writers and linkers of the audit log at once.

Of the linkers, the first is killed (SIGKILL) in the middle of batches, again and again. Prints a JSON object:
the numbers of recorded, linked and killed, and the first mismatch or null.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import time

import django

_WRITERS, _ENTRIES, _KILLS = 3, 150, 8


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.audit_chain import links
    from registry.audit_chain.verification import verify

    context = multiprocessing.get_context("fork")
    django.db.connections.close_all()  # each child opens its own
    writers = [context.Process(target=_write, args=(number,)) for number in range(_WRITERS)]
    linker = context.Process(target=_link)
    for process in (*writers, linker):
        process.start()
    killed = 0
    while killed < _KILLS:
        victim = context.Process(target=_link)
        victim.start()
        time.sleep(0.2 + random.random() / 4)
        victim.kill()
        victim.join()
        killed += victim.exitcode == -9
    for process in writers:
        process.join()
    linker.terminate()
    linker.join()
    links.link_pending()
    result = verify()
    print(
        json.dumps(
            {
                "recorded": _WRITERS * _ENTRIES,
                "linked": result.linked,
                "unlinked": result.unlinked,
                "killed": killed,
                "mismatch": result.mismatch and str(result.mismatch),
            }
        )
    )


def _write(number: int) -> None:
    from registry.identity import audit
    from registry.identity.actors import ANONYMOUS

    for each in range(_ENTRIES):
        audit.record(ANONYMOUS, "user.create", f"{number}-{each}")
        time.sleep(random.random() / 100)


def _link() -> None:
    """Links in small batches without a pause, so that a kill meets a transaction."""
    from registry.audit_chain import links

    links.BATCH = 3
    while True:
        links.link_batch()


if __name__ == "__main__":
    main()
