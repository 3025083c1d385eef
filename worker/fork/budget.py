"""Which model leads a loop, and how much it may use: from the site's settings and the skill's manifest."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from registry.packages.package import Manifest
from registry.packages.problems import refuse
from worker.fork import codes as codes  # declares what is refused here

_SHARES = {"low": 0.25, "medium": 0.5}  # of the budget; high, and what is not said, have all of it
_LONG = "[1m]"
_LEAST_TOKENS, _LEAST_TURNS = 1_000, 2


@dataclass(frozen=True)
class Endpoint:
    """Where the model is asked, and as what; ``repr`` tells no key."""

    url: str
    name: str
    wire: str  # openai or anthropic
    seconds: float

    @property
    def key(self) -> str:
        return str(settings.SKILLQUAY_MODEL_KEY)


@dataclass(frozen=True)
class Budget:
    """What a whole loop may use; ``tokens`` are read and written together."""

    tokens: int
    turns: int


def is_model_named() -> bool:
    return bool(settings.SKILLQUAY_MODEL_URL and settings.SKILLQUAY_MODEL_NAME)


def endpoint_for(manifest: Manifest) -> tuple[Endpoint, tuple[str, ...]]:
    """The model for the manifest's wish, and what to say where the wish is not one that this site knows."""
    if not is_model_named():
        raise refuse("MODEL_UNSET")
    name, warnings = settings.SKILLQUAY_MODEL_NAME, tuple[str, ...]()
    if wish := manifest.model:
        known = settings.SKILLQUAY_MODELS
        found = known.get(wish) or known.get(wish.removesuffix(_LONG))
        if found is None and wish.removesuffix(_LONG) not in (name, "inherit"):
            warnings = (f"the model {wish} is not one of SKILLQUAY_MODELS: {name} was asked",)
        name = found or name
    endpoint = Endpoint(
        settings.SKILLQUAY_MODEL_URL.rstrip("/"),
        name,
        settings.SKILLQUAY_MODEL_WIRE,
        settings.SKILLQUAY_MODEL_SECONDS,
    )
    return endpoint, warnings


def budget_for(manifest: Manifest) -> Budget:
    """The site's budget, of which a small effort gets a part."""
    share = _SHARES.get(manifest.effort.lower(), 1.0)
    return Budget(
        max(_LEAST_TOKENS, round(settings.SKILLQUAY_FORK_TOKENS * share)),
        max(_LEAST_TURNS, round(settings.SKILLQUAY_FORK_TURNS * share)),
    )
