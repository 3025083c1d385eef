from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

MOST_CHARACTERS = 4000  # of a field that an address holds


class ForPaths(forms.Form):
    """A form that asks which files are worked on."""

    paths = forms.CharField(
        label=_("Files that are worked on"),
        required=False,
        max_length=MOST_CHARACTERS,
        help_text=_("One path a line. Skills for certain files appear only where one of theirs is named."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows code"}),
    )

    def clean_paths(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.cleaned_data["paths"].splitlines() if line.strip())
