from django import forms
from django.utils.translation import gettext_lazy as _

from registry.search.glossary.edit import MAX_LINE_CHARACTERS


class EntryForm(forms.Form):
    text = forms.CharField(
        label=_("Synonyms"),
        max_length=MAX_LINE_CHARACTERS,
        help_text=_("Separate words with commas, in any language, for example: invoice, receipt, 发票"),
    )
    use_required_attribute = False
