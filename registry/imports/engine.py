"""A source is read, its candidates become versions, and each of them a row of the report."""

from __future__ import annotations

from registry.actors import Actor
from registry.models import Import


def run(report: Import, actor: Actor) -> None:
    """Reads the report's source and publishes what it holds; again changes nothing, after a kill it goes on.

    Raises nothing that a source can cause: what fails as a whole is FAILED with its problems.
    """
    raise NotImplementedError
