"""Lists the worker's tables whose changes raise change numbers, and why changes of other tables do not."""

from registry.changes.watched_tables import Raise, WatchedTable, skill_of_version, team
from registry.models import ChangeKind

_LEASE = "Only the lease of a job changes."
_RUNS = "Answers about runs and schedules are never kept."

WATCHED = {
    "worker_dependencybuild": WatchedTable(
        (
            Raise(
                ChangeKind.SKILL,
                "version.skill_id",
                "FROM worker_dependencybuild_versions built "
                "JOIN registry_version version ON version.id = built.version_id "
                "WHERE built.dependencybuild_id = {row}.id",
            ),
        ),
        dict.fromkeys(("attempt", "lease_until", "started_at", "finished_at", "last_used_at"), _LEASE),
    ),
    "worker_dependencybuild_versions": WatchedTable((skill_of_version(),)),
    "worker_runtimechoice": WatchedTable((skill_of_version(),)),
    "worker_moduleload": WatchedTable((skill_of_version(),)),
    "worker_caseresult": WatchedTable((skill_of_version(),)),
    "worker_teamlimits": WatchedTable((team(),)),
}

UNWATCHED = dict.fromkeys(
    (
        "worker_run",
        "worker_skillruncounter",
        "worker_approval",
        "worker_artifact",
        "worker_attempt",
        "worker_dailyruns",
        "worker_errorgroup",
        "worker_examination",
        "worker_failurecount",
        "worker_failurestreak",
        "worker_inputfile",
        "worker_logchunk",
        "worker_memory",
        "worker_memoryterm",
        "worker_memorywrite",
        "worker_delivery",
        "worker_notification",
        "worker_notificationevent",
        "worker_notificationsubscription",
        "worker_retentionpass",
        "worker_retentionpolicy",
        "worker_runbatch",
        "worker_runbatchitem",
        "worker_runlabel",
        "worker_runnote",
        "worker_runtotals",
        "worker_savedrunview",
        "worker_schedule",
        "worker_schedulefiring",
        "worker_serviceprocess",
        "worker_sharelink",
        "worker_step",
        "worker_teamqueuestate",
        "worker_teamdailyusage",
    ),
    _RUNS,
)
