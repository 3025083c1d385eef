"""Tells a refusal to the person: on the fields that its problems speak of, or above the page."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.utils.translation import gettext

from registry.middleware import ActorRequest
from registry.packages.problems import Refused


def add_refusal(form: forms.BaseForm, refused: Refused) -> None:
    """Each problem's message and remedy, at its field where the form has one."""
    for problem in refused.problems:
        field = problem.path if problem.path in form.fields else None
        form.add_error(field, f"{problem.message(gettext)} {problem.remedy(gettext)}")


def say(request: ActorRequest, refused: Refused) -> None:
    """The first problem's message and remedy, on the page that is shown next."""
    problem = refused.problems[0]
    messages.error(request, f"{problem.message(gettext)} {problem.remedy(gettext)}")
