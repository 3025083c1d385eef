"""Puts the problems of a refusal on the fields that they speak of."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext

from registry.packages.problems import Refused


def add_refusal(form: forms.BaseForm, refused: Refused) -> None:
    """Each problem's message and remedy, at its field where the form has one."""
    for problem in refused.problems:
        field = problem.path if problem.path in form.fields else None
        form.add_error(field, f"{problem.message(gettext)} {problem.remedy(gettext)}")
