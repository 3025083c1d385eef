from worker.models.approval import Approval, ApprovalQuerySet, Choice
from worker.models.artifact import Artifact
from worker.models.attempt import Attempt
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
from worker.models.preparation import Preparation, PreparationKind, PreparationQuerySet, PreparationState
from worker.models.run import Run, RunQuerySet, Status
from worker.models.step import Step, StepKind
from worker.models.team import TeamDay, TeamLimits, TeamTurn

__all__ = [
    "Approval",
    "ApprovalQuerySet",
    "Artifact",
    "Attempt",
    "Choice",
    "Examination",
    "InputFile",
    "LogChunk",
    "Memory",
    "MemoryChange",
    "MemoryTerm",
    "MemoryType",
    "MemoryWrite",
    "OwnerType",
    "Preparation",
    "PreparationKind",
    "PreparationQuerySet",
    "PreparationState",
    "Run",
    "RunQuerySet",
    "Status",
    "Step",
    "StepKind",
    "TeamDay",
    "TeamLimits",
    "TeamTurn",
    "WriteState",
]
