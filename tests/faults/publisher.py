"""For each line on stdin a child that publishes until it is killed: prints its id, then how it ended."""

from __future__ import annotations

import os
import sys

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    import tests.registry.conftest  # noqa: F401  (imported once, before the children)
    from registry import versions  # noqa: F401
    from registry.storage import blobs

    blobs.backend()  # what S3 needs is slow to import
    for seed in sys.stdin:
        child = os.fork()  # a fresh interpreter for each would cost a second
        if not child:
            publish_on(seed.strip())
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def publish_on(seed: str) -> None:
    """Publishes without end; only a kill stops it."""
    from registry.identity.actors import administrator_actor
    from registry.models import Team
    from registry.packages.package import PackageFile
    from registry.versions.publishing.publish import publish
    from tests.registry.conftest import make_package

    team, actor = Team.objects.get(), administrator_actor()
    for number in range(10_000):
        files = [PackageFile(f"references/{n}.md", f"{seed} {number} {n}".encode() * 50) for n in range(20)]
        body = f"# Report {seed}\n" + " ".join(f"word{n}" for n in range(200))
        publish(make_package(f"s{number % 7}", body=body, files=files), team=team, actor=actor)


if __name__ == "__main__":
    main()
