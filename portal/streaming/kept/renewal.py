"""Renews outdated answers without a request: only what may have changed is read again."""

from __future__ import annotations

from django.db import Error, close_old_connections
from django.utils import translation

from portal.streaming.kept.answers import Answer
from registry.changes import drafts
from registry.identity.actors import Actor
from registry.packages.problems import Refusal


def renew(answer: Answer, actor: Actor, language: str, number: int) -> Answer | None:
    """The answer for the actor by the present state; None if a request must be made instead.

    The actor must have the access for which the answer was kept, and ``number`` must have been read before.
    """
    if answer.renew is None:
        return None
    terms = drafts.AnswerTerms(keeps=True)
    try:
        with drafts.begin(terms), translation.override(language):
            body = answer.renew(actor)
    except (Refusal, drafts.NotRenewableError):
        return None
    except Error:
        close_old_connections()
        return None
    return answer.renewed(terms, body, number) if terms.is_kept else None
