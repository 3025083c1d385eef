"""Collects the data that the web process needs to cache an answer: its dependencies and how long it stays
valid.

``portal.streaming.kept`` begins a draft before it passes a request to Django. The code that answers the
request completes the draft with these functions, which do nothing without a draft. An answer is kept only if
its endpoint calls ``keep``. Such an endpoint must declare everything on which the answer depends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from registry.changes.dependency import CATALOG, COMMON, Dependency
from registry.identity.actors import Actor
from registry.models import ChangeKind, Skill

PAGE_S = 1.0  # pages show runs, counts and relative times, which change no number
USES_S = 10.0  # other answers that show counts of uses, or an order by use
Renewal = Callable[[Actor], bytes | None]


class NotRenewableError(Exception):
    """Raised if only a new request can replace an outdated answer, for example because its
    headers may have changed.
    """


@dataclass
class AnswerTerms:
    keeps: bool = False
    is_page: bool = False
    is_facade: bool = False
    is_discarded: bool = False
    dependencies: set[Dependency] = field(default_factory=lambda: {COMMON})
    lasts_s: float | None = None  # None: until a dependency changes
    count_use: Callable[[str], None] | None = None  # counts the answer's delivery to this caller as a use
    caller: str = ""  # of the use
    renew: Renewal | None = None

    @property
    def is_kept(self) -> bool:
        return self.keeps and not self.is_discarded


_current: ContextVar[AnswerTerms | None] = ContextVar("draft", default=None)


@contextmanager
def begin(draft: AnswerTerms) -> Iterator[None]:
    """Context manager that makes ``draft`` the current draft, also in threads that get a copy of the
    context.
    """
    token = _current.set(draft)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> AnswerTerms | None:
    return _current.get()


def keep(*, is_facade: bool = False) -> None:
    """Declares that the answer may be kept for all clients with the same access. With ``is_facade``, clients
    send a token in any form, and sessions are ignored.
    """
    if draft := _current.get():
        draft.keeps, draft.is_facade = True, is_facade


def keep_page() -> None:
    """Declares that the page may be kept for ``PAGE_S`` seconds, for one person or for all visitors."""
    if draft := _current.get():
        draft.keeps = draft.is_page = True
        draft.lasts_s = PAGE_S


def discard() -> None:
    """Declares that the answer must not be kept, whatever else is declared."""
    if draft := _current.get():
        draft.is_discarded = True


def is_kept() -> bool:
    """Whether the answer will be kept, as far as is known now. A kept answer must be complete, not a 304
    response.
    """
    draft = _current.get()
    return draft is not None and draft.is_kept


def renew_by(renew: Renewal) -> None:
    """Lets the web process renew an outdated answer without a request, for any actor with the same access.

    ``renew`` returns the new body, or None if the answer is unchanged. Like the endpoint, it must check
    access and declare dependencies, and it raises the endpoint's errors. It must not reference the request.
    If ``renew`` raises one of these errors or NotRenewableError, the web process requests the answer again.
    """
    if draft := _current.get():
        draft.renew = renew


def confirm_by(state: Hashable, read_state: Callable[[Actor], Hashable]) -> None:
    """Like ``renew_by``, for an answer that is unchanged as long as ``read_state`` returns ``state``."""

    def renew(actor: Actor) -> None:
        if read_state(actor) != state:
            raise NotRenewableError

    renew_by(renew)


def depend_on_skill(skill: Skill | None) -> None:
    """Declares that the answer depends on the skill with its versions, and on the skill's team."""
    draft = _current.get()
    if draft and skill is not None:
        draft.dependencies |= {(ChangeKind.SKILL.value, skill.pk), (ChangeKind.TEAM.value, skill.team_id)}


def depend_on_team(team_id: int) -> None:
    """Declares that the answer depends on the team and on the addresses of its skills."""
    draft = _current.get()
    if draft:
        draft.dependencies.add((ChangeKind.TEAM.value, team_id))


def depend_on_catalog() -> None:
    """Declares that the answer depends on all skills, teams and collections."""
    if draft := _current.get():
        draft.dependencies.add(CATALOG)


def depend_on_uses(lasts_s: float = USES_S) -> None:
    """Declares that the answer depends on uses. Uses change no number, so the answer is kept for at most
    ``lasts_s`` seconds.
    """
    if draft := _current.get():
        draft.lasts_s = min(lasts_s, draft.lasts_s or lasts_s)


def defer_use(count_use: Callable[[str], None], caller: str) -> bool:
    """Makes the web process count the use when it delivers the answer. Returns False without a draft."""
    draft = _current.get()
    if draft is None:
        return False
    draft.count_use, draft.caller = count_use, caller
    return True
