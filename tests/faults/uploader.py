"""For each line on stdin a child that uploads files in chunks until it is killed: prints its id, then how it
ended. The line "check" finishes all uploads instead, and prints how many have their content.
"""

from __future__ import annotations

import os
import random
import sys

import django

SIZE, STEP = 2_000_000, 65_536


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from registry.storage import blobs
    from registry.uploads import uploads  # noqa: F401  (imported once, before the children)

    blobs.backend()
    for line in sys.stdin:
        if line.strip() == "check":
            check()
            break
        child = os.fork()
        if not child:
            upload_on()
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def upload_on() -> None:
    """Uploads one file after another, each from where an earlier process was killed."""
    for number in range(10_000):
        upload(number)


def upload(number: int) -> bool:
    """Uploads the file, and returns whether the stored content is that of the file."""
    from registry.identity.actors import Actor
    from registry.models import User
    from registry.storage import blobs
    from registry.uploads import uploads

    content, actor = random.Random(number).randbytes(SIZE), Actor(user=User.objects.get())
    begun, _created = uploads.begin_upload(actor, name=f"{number}.bin", size=SIZE, key="same")
    while begun.received < SIZE:
        begun = uploads.append_chunk(begun, begun.received, [content[begun.received :][:STEP]])
    return blobs.read(uploads.finish_upload(begun).digest) == content


def check() -> None:
    from registry.models import ResumableUpload

    numbers = [int(name.partition(".")[0]) for name in ResumableUpload.objects.values_list("name", flat=True)]
    assert len(set(numbers)) == len(numbers)
    numbers = numbers or [0]  # on a loaded machine, no process came so far
    print(sum(map(upload, numbers)), len(numbers))


if __name__ == "__main__":
    main()
