"""The settings of a skill."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.models import Visibility

_CHOICES = (
    (Visibility.PRIVATE, _("Private: the team only")),
    (Visibility.SITE, _("Site: everybody who is signed in")),
    (Visibility.PUBLIC, _("Public: everybody who can reach this site")),
)


class VisibilityForm(forms.Form):
    visibility = forms.ChoiceField(
        label=_("Who may see and run it"), choices=_CHOICES, widget=forms.RadioSelect
    )
