"""Versions and skills from their first publication to their purge: the only writer of either."""

from registry.publishing.publication import Preview, Publication, check, publish
from registry.publishing.rows import problems_of
from registry.publishing.settings import set_visibility

__all__ = ["Preview", "Publication", "check", "problems_of", "publish", "set_visibility"]
