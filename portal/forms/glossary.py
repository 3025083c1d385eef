"""The form of one line of the glossary."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from registry.glossary.editing import MOST_CHARACTERS


class LineForm(forms.Form):
    text = forms.CharField(
        label=_("Words that mean the same"),
        max_length=MOST_CHARACTERS,
        help_text=_("Separated by commas, in any language, such as: invoice, receipt, 发票"),
    )
    use_required_attribute = False
