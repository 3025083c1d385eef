from django import forms


class FilterForm(forms.Form):
    """The filters of a list, which are part of the URL."""

    use_required_attribute = False

    @property
    def is_set(self) -> bool:
        """Whether any filter is set, also to an invalid value."""
        return any(self.data.get(name) for name in self.fields)
