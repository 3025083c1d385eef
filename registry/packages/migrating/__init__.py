"""Old packages of document C → conforming ones: pure, but for ``folders``, which swaps a folder on disk."""

from registry.packages.migrating.migration import Migration, migrate

__all__ = ["Migration", "migrate"]
