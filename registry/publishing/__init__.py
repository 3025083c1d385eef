"""Versions and skills from their first publication to their purge: the only writer of either."""

from registry.publishing.channels import remove_channel, set_channel
from registry.publishing.latest import show_latest
from registry.publishing.moving import merge, rename
from registry.publishing.publication import Preview, Publication, check, publish
from registry.publishing.purge import purge_skill, purge_version
from registry.publishing.rows import problems_of
from registry.publishing.settings import set_changelog, set_visibility
from registry.publishing.withdrawal import (
    deprecate_skill,
    deprecate_version,
    undeprecate_skill,
    undeprecate_version,
    unyank,
    yank,
)

__all__ = [
    "Preview",
    "Publication",
    "check",
    "deprecate_skill",
    "deprecate_version",
    "merge",
    "problems_of",
    "publish",
    "purge_skill",
    "purge_version",
    "remove_channel",
    "rename",
    "set_changelog",
    "set_channel",
    "set_visibility",
    "show_latest",
    "undeprecate_skill",
    "undeprecate_version",
    "unyank",
    "yank",
]
