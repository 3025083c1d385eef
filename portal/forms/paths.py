from django import forms
from django.utils.translation import gettext_lazy as _

MAX_CHARACTERS = 4000  # per field in a query string


class PathsForm(forms.Form):
    """A form with a field for the files that the user works on; cleans to a tuple of paths."""

    paths = forms.CharField(
        label=_("Files you are working on"),
        required=False,
        max_length=MAX_CHARACTERS,
        help_text=_("One path per line; skills limited to certain files appear only if a path matches."),
        widget=forms.Textarea(attrs={"rows": 2, "class": "grows code"}),
    )

    def clean_paths(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.cleaned_data["paths"].splitlines() if line.strip())
