"""The form for a new skill: kind, names, description, language and team."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.boundfield import BoundWidget
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from portal.forms.team_choice import TeamChoiceForm
from registry.packages.authoring.new_skill import MAX_DESCRIPTION_LENGTH, TEMPLATES, NewSkill
from registry.packages.manifest.naming import MAX_NAME_LENGTH, MAX_SLUG_LENGTH

_LABEL = '<span><b>{}</b> <span class="small muted">{}</span></span>'
_label = lazy(format_html, SafeString)
_KINDS = [(kind.name, _label(_LABEL, _(kind.title), _(kind.summary))) for kind in TEMPLATES]
_GROUPS = (
    (_("Texts and files without a script"), ("prompt", "static")),
    (_("Scripts: code runs in a sandbox"), ("python", "bash", "node", "request", "tools")),
)
_OTHERS = _("Formats of other platforms")


class NewSkillForm(TeamChoiceForm):
    template = forms.ChoiceField(label=_("Kind"), choices=_KINDS, initial="prompt", widget=forms.RadioSelect)
    name = forms.CharField(
        label=_("Short name"),
        max_length=MAX_SLUG_LENGTH,
        help_text=_(
            "Part of the skill's address: lowercase letters, digits and hyphens (not two in a "
            "row), such as word-count."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    title = forms.CharField(
        label=_("Display name"),
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text=_("In any language; leave empty to derive it from the short name."),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=MAX_DESCRIPTION_LENGTH,
        help_text=_(
            "Say what the skill does and when to use it; people and agents choose the skill by this text."
        ),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    language = forms.ChoiceField(
        label=_("Language of the template text"), choices=[("en", "English"), ("zh", "简体中文")]
    )
    field_order = ("template", "name", "title", "description", "language", "team")

    @property
    def kind_groups(self) -> list[tuple[Any, list[BoundWidget], bool]]:
        """The kinds in groups: the label, the radio buttons, and whether the group is folded. A group with
        the selected kind is open.
        """
        field = self["template"]
        rest = {str(button.data["value"]): button for button in field.subwidgets}
        groups = [(label, [rest.pop(name) for name in names], False) for label, names in _GROUPS]
        return [*groups, (_OTHERS, list(rest.values()), field.value() not in rest)]

    @property
    def start(self) -> NewSkill:
        return NewSkill(**{name: self.cleaned_data[name] for name in NewSkill.__dataclass_fields__})
