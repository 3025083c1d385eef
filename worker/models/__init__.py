from worker.models.artifact import Artifact
from worker.models.attempt import Attempt
from worker.models.input import InputFile
from worker.models.log import LogChunk
from worker.models.run import Run, RunQuerySet, Status
from worker.models.step import Step, StepKind

__all__ = [
    "Artifact",
    "Attempt",
    "InputFile",
    "LogChunk",
    "Run",
    "RunQuerySet",
    "Status",
    "Step",
    "StepKind",
]
