"""Shows refusals to the user: at the fields of a form, or as a message on the next page."""

from collections.abc import Callable
from functools import partial

from django import forms
from django.contrib import messages
from django.utils.translation import gettext

from portal.presenters.content.punctuation import sentences
from registry.identity.middleware import ActorRequest
from registry.packages.problems import Problem, Refusal


class RefusalHandler:
    """A context manager that suppresses a ``Refusal`` raised in its block and passes it to ``handle``."""

    def __init__(self, handle: Callable[[Refusal], None]) -> None:
        self.handle = handle

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Refusal):
            self.handle(error)
        return isinstance(error, Refusal)


def add_refusals(form: forms.BaseForm) -> RefusalHandler:
    """A context manager that suppresses a ``Refusal`` raised in its block and adds it to the form."""
    return RefusalHandler(partial(add_refusal, form))


def show_refusals(request: ActorRequest) -> RefusalHandler:
    """A context manager that suppresses a ``Refusal`` raised in its block and shows it on the next page."""
    return RefusalHandler(partial(show_refusal, request))


def add_refusal(form: forms.BaseForm, refused: Refusal) -> None:
    """Adds each problem's message and remedy to its field, or to the form if it has no such field."""
    for problem in refused.problems:
        field = problem.path if problem.path in form.fields else None
        form.add_error(field, forms.ValidationError(problem_text(problem), code=problem.code))


def show_refusal(request: ActorRequest, refused: Refusal) -> None:
    """Shows the first problem's message and remedy on the next page."""
    problem = refused.problems[0]
    messages.error(request, problem_text(problem), extra_tags=problem.code)


def problem_text(problem: Problem) -> str:
    """The problem's message and remedy in the reader's language."""
    return sentences((problem.message(gettext), problem.remedy(gettext)))
