from worker.models.approval import Approval, ApprovalDecision, ApprovalQuerySet
from worker.models.artifact import Artifact
from worker.models.attempt import Attempt
from worker.models.dependency_build import (
    DependencyBuild,
    DependencyBuildQuerySet,
    DependencyBuildState,
    DependencyKind,
)
from worker.models.examination import Examination
from worker.models.input import InputFile
from worker.models.log import LogChunk
from worker.models.memory import (
    Memory,
    MemoryChange,
    MemoryTerm,
    MemoryType,
    MemoryWrite,
    OwnerType,
    WriteState,
)
from worker.models.run import Run, RunQuerySet, RunStatus, SkillRunCounter
from worker.models.run_totals import RunTotals
from worker.models.runtime_choice import RuntimeChoice
from worker.models.service_process import ProcessKind, ServiceProcess
from worker.models.step import Step, StepKind
from worker.models.team import TeamDailyUsage, TeamLimits, TeamQueueState
