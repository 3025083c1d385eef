"""Tone, icon and label of each status; the label is always shown, so color alone carries no meaning."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

TONES: dict[str, tuple[str, str, str | Promise]] = {
    # Statuses of runs, attempts and steps
    "queued": ("quiet", "queued", _("Queued")),
    "waiting_approval": ("warn", "queued", _("Waiting for approval")),
    "running": ("running", "running", _("Running")),
    "succeeded": ("ok", "ok", _("Succeeded")),
    "failed": ("bad", "bad", _("Failed")),
    "timed_out": ("bad", "queued", _("Timed out")),
    "cancelled": ("quiet", "stopped", _("Cancelled")),
    "lost": ("warn", "warn", _("Worker lost")),
    "refused": ("warn", "stopped", _("Refused")),
    # Statuses of imports and their rows
    "done": ("ok", "ok", _("Done")),
    "published": ("ok", "ok", _("Published")),
    "unchanged": ("quiet", "dot", _("Unchanged")),
    "skipped": ("quiet", "stopped", _("Skipped")),
    # Outcomes of events
    "started": ("ok", "play", _("Started")),
    "proposed": ("info", "dot", _("Proposed")),
    # Statuses of error groups
    "open": ("bad", "bad", _("Open")),
    "resolved": ("ok", "ok", _("Resolved")),
    "regressed": ("bad", "again", _("Regressed")),
    # Statuses of schedules and their firings
    "active": ("ok", "ok", _("Active")),
    "paused": ("warn", "pause", _("Paused")),
    "finished": ("quiet", "ok", _("Finished")),
    "pending": ("quiet", "queued", _("Pending")),
    "missed": ("warn", "warn", _("Missed")),
    # Statuses of dependency builds, then of proposed memories
    "ready": ("ok", "ok", _("Ready")),
    "unused": ("quiet", "queued", _("Rebuilt on next run")),
    "waiting": ("warn", "queued", _("Waiting for review")),
    "committed": ("ok", "ok", _("Remembered")),
    "merged": ("ok", "ok", _("Already known")),
    "declined": ("quiet", "stopped", _("Declined")),
    # Severities of problems
    "error": ("bad", "bad", _("Error")),
    "warning": ("warn", "warn", _("Warning")),
    "notice": ("info", "info", _("Notice")),
    # Severities of findings
    "critical": ("bad", "bad", _("Critical")),
    "high": ("bad", "warn", _("High")),
    "medium": ("warn", "warn", _("Medium")),
    "low": ("info", "info", _("Low")),
    # Visibilities
    "private": ("quiet", "lock", _("Private")),
    "site": ("quiet", "site", pgettext_lazy("visibility", "Site")),
    "public": ("quiet", "globe", _("Public")),
}
