"""``manage.py makemessages -l zh_Hans``: Django's command, which also collects texts in ``gettext_noop``."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=gettext_noop", "--sort-output"]
