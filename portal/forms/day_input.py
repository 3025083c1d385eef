"""An input of a calendar day."""

from django import forms


class DayInput(forms.DateInput):
    input_type = "date"
