"""The areas of the error codes: the rooms that declare codes, in the order of the documentation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from django.utils.functional import Promise
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from registry.packages.problems import Code


@dataclass(frozen=True)
class ErrorArea:
    """Codes about one subject. ``anchor`` is the id of its section; ``rooms`` declare the codes."""

    anchor: str
    title: str | Promise
    about: str | Promise
    rooms: tuple[str, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """The names of the codes in alphabetical order."""
        return _declared(self.rooms)

    @property
    def items(self) -> SafeString:
        """The codes as items of a list, each with its id and a link, without quotes and end tags that HTML
        allows to omit: the page has hundreds of them.
        """
        return mark_safe("".join(f'<li id={name}><a href="{name}/">{name}</a>' for name in self.codes))


AREAS = (
    ErrorArea(
        "requests",
        _("Requests"),
        _("Requests that the site can't read or accept: format, size, rate and uploads."),
        (
            *("registry.api", "registry.core", "registry.rates", "registry.uploads", "registry.facades.git"),
            *("worker.facades.mcp", "portal"),
        ),
    ),
    ErrorArea(
        "sign-in",
        _("Sign-in and accounts"),
        _("Passwords, invitations, identity providers and logins of clients."),
        ("registry.accounts", "registry.single_sign_on", "registry.device_logins"),
    ),
    ErrorArea(
        "access",
        _("Tokens, teams and limits"),
        _("Access tokens, install links, members, limits of a team, and missing permissions."),
        ("registry.identity", "registry.install_links", "registry.subscriptions", "worker.quotas"),
    ),
    ErrorArea(
        "packages",
        pgettext_lazy("documents", "Packages"),
        _("Archives, SKILL.md, and the checks before a package is published."),
        (
            *("registry.packages", "registry.packages.checks", "registry.packages.command_lines"),
            "worker.script_checks",
        ),
    ),
    ErrorArea(
        "imports",
        pgettext_lazy("documents", "Imports"),
        _("Sources, the skills found there, and requests to other servers."),
        ("registry.imports", "registry.imports.readers", "registry.http_client"),
    ),
    ErrorArea(
        "versions",
        _("Skills and versions"),
        _("Version numbers, channels, canonical skills, collections, findings and reports."),
        (
            *("registry.versions", "registry.lookup", "registry.canonical", "registry.collections"),
            "registry.review",
        ),
    ),
    ErrorArea(
        "search",
        _("Search and matching"),
        _("Trigger tests, feedback on matches, the glossary and the agent listing."),
        ("registry.matching", "registry.trigger_tests", "registry.search", "registry.listing"),
    ),
    ErrorArea(
        "approvals",
        _("Approvals, rules and secrets"),
        _("Runs that need approval, rules that allow or deny them, and secrets for scripts."),
        ("registry.rules", "worker.approvals", "registry.secrets"),
    ),
    ErrorArea(
        "runs",
        pgettext_lazy("list", "Runs"),
        _("Starting, listing, repeating, sharing and removing runs."),
        (
            *("worker.runs", "worker.files", "worker.child_runs", "worker.cases", "worker.run_batches"),
            *("worker.annotations", "worker.saved_views", "worker.sharing", "worker.failures"),
            "worker.retention",
        ),
    ),
    ErrorArea(
        "scripts",
        _("Scripts and models"),
        _("Why a run failed or could not start: inputs, output, exit status, limits and models."),
        ("worker.protocols", "worker.executors", "worker.core", "worker.attempts"),
    ),
    ErrorArea(
        "dependencies",
        _("Dependencies"),
        _("Libraries and runtimes that a script needs."),
        ("registry.packages.dependencies", "worker.dependencies", "worker.module_loads"),
    ),
    ErrorArea(
        "sandbox",
        _("Sandbox and network"),
        _("Isolation on the worker, and hosts that a script can't reach."),
        ("worker.sandbox",),
    ),
    ErrorArea(
        "schedules",
        _("Schedules"),
        _("Invalid times, paused schedules and missed runs."),
        ("worker.schedules",),
    ),
    ErrorArea(
        "events",
        _("Events and notifications"),
        _("Events, webhooks, subscriptions and deliveries."),
        ("registry.events", "worker.delivery"),
    ),
    ErrorArea(
        "memory",
        pgettext_lazy("document", "Memory"),
        _("Memories that runs propose, and their review."),
        ("worker.memory",),
    ),
    ErrorArea(
        "storage",
        _("Storage and backups"),
        _("Stored files, backups, and moving a site."),
        ("registry.storage", "registry.transfer"),
    ),
)


def area_named(anchor: str) -> ErrorArea | None:
    return next((area for area in AREAS if area.anchor == anchor), None)


def area_of(code: str) -> ErrorArea:
    """The area that contains the code."""
    return next(area for area in AREAS if code in area.codes)


@cache
def _declared(rooms: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the codes in the ``errors`` modules of the rooms, in alphabetical order."""
    values = (each for room in rooms for each in vars(import_module(f"{room}.errors")).values())
    return tuple(sorted(each.name for each in values if isinstance(each, Code)))
