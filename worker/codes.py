"""The refusals of asking for a run, and the table of failure codes: each with the status it stands under."""

from registry.packages.problems import Code, declare, gettext_noop
from worker.models import Status

declare(
    Code(
        "INPUT_NOT_FOUND",
        gettext_noop("There is no input file %(name)s, or it is not yours, or it has expired."),
        gettext_noop("Upload the file again, or name an artifact of a run whose content you may read."),
    ),
    Code(
        "INPUT_TOO_LARGE",
        gettext_noop("The file is larger than %(limit)s bytes."),
        gettext_noop("Send a smaller file; the limit is SKILLQUAY_INPUT_BYTES."),
        http=413,
    ),
    Code(
        "INPUT_NAME_INVALID",
        gettext_noop("The file name %(name)s cannot be used."),
        gettext_noop("Give a file name of at most 255 bytes without slashes or control characters."),
    ),
    Code(
        "REQUEST_TOO_LARGE",
        gettext_noop("The inputs are larger than %(limit)s bytes."),
        gettext_noop("Send large values as files: POST /api/v1/inputs."),
        http=413,
    ),
    Code(
        "REQUEST_INVALID",
        gettext_noop("The request cannot be stored: %(reason)s."),
        gettext_noop("Send inputs that are JSON, without NUL characters or lone surrogates."),
    ),
    Code(
        "RUN_UNFINISHED",
        gettext_noop("The run has not ended yet."),
        gettext_noop("Cancel it, or wait for its end, and erase its content then."),
        http=409,
    ),
    Code(
        "TEAM_LIMIT_INVALID",
        gettext_noop("%(name)s is no limit of a team, or its value is none."),
        gettext_noop("Give a whole number up to %(most)s, 0 for no limit, or null for the site's own."),
        http=422,
    ),
    Code(
        "TEAM_LIMIT_NEAR",
        gettext_noop("The team %(team)s has used %(percent)s percent of its %(name)s (%(limit)s)."),
        gettext_noop("An administrator may raise the limit; the team's page shows what is used."),
        severity="notice",
    ),
    Code(
        "TEAM_RUNS_SPENT",
        gettext_noop("The team %(team)s has started its %(limit)s runs of today."),
        gettext_noop("Try again after midnight UTC, or ask an administrator to raise the limit."),
        http=429,
        retryable=True,
    ),
    Code(
        "TEAM_CPU_SPENT",
        gettext_noop("The team %(team)s has used its %(limit)s seconds of CPU time of today."),
        gettext_noop("Try again after midnight UTC, or ask an administrator to raise the limit."),
        http=429,
        retryable=True,
    ),
    Code(
        "TEAM_BYTES_SPENT",
        gettext_noop("The runs of the team %(team)s keep %(limit)s bytes of files or more."),
        gettext_noop("Erase the content of runs that nobody needs, or ask an administrator for more."),
        http=507,
    ),
    Code(
        "CANCELLED",
        gettext_noop("The run was cancelled."),
        gettext_noop("Run it again if that was not meant."),
        retryable=True,
    ),
    Code(
        "WORKER_LOST",
        gettext_noop("The worker that executed the run is gone, and what the run did until then is unknown."),
        gettext_noop("Run it again; a skill that may be repeated says so with retry_on_lost."),
        retryable=True,
    ),
    Code(
        "PACKAGE_MISSING",
        gettext_noop("The package of this version is no longer stored."),
        gettext_noop("Run another version."),
    ),
    Code(
        "WORKER_ERROR",
        gettext_noop("The portal failed while it executed the run: %(reason)s."),
        gettext_noop("Run it again; an administrator finds the cause in the worker's log."),
        http=500,
        retryable=True,
    ),
)

# Where a run stands for each code of the portal's own; every other code, a skill's own too, is a failure.
_STATUS = {
    "TIMEOUT": Status.TIMED_OUT,
    "CANCELLED": Status.CANCELLED,
    "WORKER_LOST": Status.LOST,
    "SANDBOX_UNAVAILABLE": Status.REFUSED,
    "NETWORK_ALLOWLIST_UNAVAILABLE": Status.REFUSED,
    "MODEL_UNSET": Status.REFUSED,
    "APPROVAL_DENIED": Status.REFUSED,
    "APPROVAL_EXPIRED": Status.REFUSED,
    "DEPENDENCIES_OFF": Status.REFUSED,
    "DEPENDENCIES_FAILED": Status.REFUSED,
    "DEPENDENCIES_OFFLINE": Status.REFUSED,
    "DEPENDENCIES_CHANGED": Status.REFUSED,
    "DEPENDENCIES_TOO_LARGE": Status.REFUSED,
    "DEPENDENCIES_SLOW": Status.REFUSED,
    "DEPENDENCIES_HOST": Status.REFUSED,
    "DEPENDENCIES_DISK": Status.REFUSED,
    "DEPENDENCIES_PYTHON": Status.REFUSED,
    "INSTALLER_MISSING": Status.REFUSED,
    "RUNTIME_UNKNOWN": Status.REFUSED,
}


def status_of(failure_code: str) -> Status:
    """Where a run stands that ended with this code; "" is success."""
    return _STATUS.get(failure_code, Status.FAILED) if failure_code else Status.SUCCEEDED
