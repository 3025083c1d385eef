"""What a team uses, in words."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

LABELS: dict[str, Promise] = {
    "concurrent_runs": _("Runs at once"),
    "runs_a_day": _("Runs a day"),
    "cpu_seconds_a_day": _("CPU seconds a day"),
    "kept_bytes": _("Bytes of files that runs left"),
}
