from worker.models.annotation import RunLabel, RunNote
from worker.models.approval import Approval, ApprovalDecision, ApprovalQuerySet
from worker.models.artifact import Artifact
from worker.models.attempt import Attempt
from worker.models.case_result import CaseResult
from worker.models.daily_runs import DailyRuns, DailyRunsQuerySet
from worker.models.delivery import (
    MEMORY_CHANNEL,
    Delivery,
    DeliveryChannel,
    DeliveryKind,
    DeliveryQuerySet,
    DeliveryState,
    Digest,
    NotificationSubscription,
    NotificationSubscriptionQuerySet,
)
from worker.models.dependency_build import (
    DependencyBuild,
    DependencyBuildQuerySet,
    DependencyBuildState,
    DependencyKind,
)
from worker.models.examination import Examination
from worker.models.failure import (
    ErrorGroup,
    ErrorGroupQuerySet,
    ErrorGroupState,
    FailureCount,
    FailureCountQuerySet,
)
from worker.models.input import InputFile
from worker.models.log import LogChunk
from worker.models.memory import (
    Memory,
    MemoryTerm,
    MemoryType,
    MemoryWrite,
    OwnerType,
    WriteState,
)
from worker.models.module_load import ModuleLoad, ModuleLoadState, SkipReason
from worker.models.notification import (
    REVIEW_KINDS,
    RUN_KINDS,
    SCHEDULE_KINDS,
    FailureStreak,
    Notification,
    NotificationEvent,
    NotificationEventQuerySet,
    NotificationKind,
    NotificationQuerySet,
)
from worker.models.retention import RetentionPass, RetentionPolicy
from worker.models.run import FAILED_STATUSES, Run, RunQuerySet, RunStatus, SkillRunCounter
from worker.models.run_batch import (
    ACTIVE_BATCHES,
    BatchItemState,
    RunBatch,
    RunBatchAction,
    RunBatchItem,
    RunBatchQuerySet,
    RunBatchState,
)
from worker.models.run_totals import RunTotals
from worker.models.runtime_choice import RuntimeChoice
from worker.models.saved_view import SavedRunView
from worker.models.schedule import (
    LATE_AFTER,
    CatchUpPolicy,
    FiringState,
    OverlapPolicy,
    Schedule,
    ScheduleFiring,
    ScheduleKind,
    ScheduleQuerySet,
    ScheduleState,
)
from worker.models.service_process import ProcessKind, ServiceProcess
from worker.models.share_link import ShareLink
from worker.models.step import Step, StepKind
from worker.models.team import TeamDailyUsage, TeamLimits, TeamQueueState
