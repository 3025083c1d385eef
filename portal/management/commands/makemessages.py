"""``manage.py makemessages -l zh_Hans``: Django's, with the marks of the floors that import no Django."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=gettext_noop", "--sort-output"]
