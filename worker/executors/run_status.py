"""The status of a run for each failure code."""

from worker.approvals.errors import APPROVAL_DENIED, APPROVAL_EXPIRED
from worker.core.errors import CANCELLED, MODEL_NOT_CONFIGURED, WORKER_LOST
from worker.dependencies import errors as dependency_errors
from worker.models import RunStatus
from worker.protocols.errors import TIMEOUT
from worker.sandbox.errors import NETWORK_ALLOWLIST_UNAVAILABLE, SANDBOX_UNAVAILABLE

_REFUSED = (
    SANDBOX_UNAVAILABLE,
    NETWORK_ALLOWLIST_UNAVAILABLE,
    MODEL_NOT_CONFIGURED,
    APPROVAL_DENIED,
    APPROVAL_EXPIRED,
    dependency_errors.DEPENDENCIES_CANCELLED,
    dependency_errors.DEPENDENCIES_DISABLED,
    dependency_errors.DEPENDENCIES_FAILED,
    dependency_errors.DEPENDENCIES_OFFLINE,
    dependency_errors.DEPENDENCIES_CHANGED,
    dependency_errors.DEPENDENCIES_TOO_LARGE,
    dependency_errors.DEPENDENCIES_SLOW,
    dependency_errors.DEPENDENCIES_HOST,
    dependency_errors.DEPENDENCIES_DISK,
    dependency_errors.DEPENDENCIES_PYTHON,
    dependency_errors.INSTALLER_MISSING,
    dependency_errors.RUNTIME_UNKNOWN,
)
# All other codes, including a skill's own, mean FAILED.
_STATUS = {
    TIMEOUT.name: RunStatus.TIMED_OUT,
    CANCELLED.name: RunStatus.CANCELLED,
    WORKER_LOST.name: RunStatus.LOST,
    **{code.name: RunStatus.REFUSED for code in _REFUSED},
}


def status_of(failure_code: str) -> RunStatus:
    """The status of a run that ended with this code; "" means success."""
    return _STATUS.get(failure_code, RunStatus.FAILED) if failure_code else RunStatus.SUCCEEDED
