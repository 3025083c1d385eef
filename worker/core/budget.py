"""The model and the budget of an agent loop, from the site's settings and the skill's manifest."""

from dataclasses import dataclass

from django.conf import settings

from registry.packages.package import Manifest
from worker.core.errors import MODEL_NOT_CONFIGURED

_SHARES = {"low": 0.25, "medium": 0.5}  # fractions of the budget; "high" and an unset effort get all of it
_LONG_CONTEXT_SUFFIX = "[1m]"
_MIN_TOKENS, _MIN_TURNS = 1_000, 2


@dataclass(frozen=True)
class ModelEndpoint:
    """The model's endpoint. The key is a property, not a field, so that ``repr`` does not show it."""

    url: str
    name: str
    wire: str  # openai or anthropic
    seconds: float

    @property
    def key(self) -> str:
        return str(settings.SKILLQUAY_MODEL_KEY)


@dataclass(frozen=True)
class Budget:
    """The limits of one agent loop; ``tokens`` counts input and output together."""

    tokens: int
    turns: int


def is_model_configured() -> bool:
    return bool(settings.SKILLQUAY_MODEL_URL and settings.SKILLQUAY_MODEL_NAME)


def endpoint_for(manifest: Manifest) -> tuple[ModelEndpoint, tuple[str, ...]]:
    """The endpoint with the manifest's model, and warnings to show.

    A model that the site does not offer is replaced by the site's model, with a warning. Raises
    MODEL_NOT_CONFIGURED if the site has no model.
    """
    if not is_model_configured():
        raise MODEL_NOT_CONFIGURED.refusal()
    name, warnings = settings.SKILLQUAY_MODEL_NAME, tuple[str, ...]()
    if requested := manifest.model:
        known = settings.SKILLQUAY_MODELS
        configured = known.get(requested) or known.get(requested.removesuffix(_LONG_CONTEXT_SUFFIX))
        if configured is None and requested.removesuffix(_LONG_CONTEXT_SUFFIX) not in (name, "inherit"):
            warnings = (f"the model {requested} is not one of SKILLQUAY_MODELS; {name} was used instead",)
        name = configured or name
    endpoint = ModelEndpoint(
        settings.SKILLQUAY_MODEL_URL.rstrip("/"),
        name,
        settings.SKILLQUAY_MODEL_PROTOCOL,
        settings.SKILLQUAY_MODEL_SECONDS,
    )
    return endpoint, warnings


def budget_for(manifest: Manifest) -> Budget:
    """The site's budget, reduced for a low or medium effort."""
    share = _SHARES.get(manifest.effort.lower(), 1.0)
    return Budget(
        max(_MIN_TOKENS, round(settings.SKILLQUAY_FORK_TOKENS * share)),
        max(_MIN_TURNS, round(settings.SKILLQUAY_FORK_TURNS * share)),
    )
