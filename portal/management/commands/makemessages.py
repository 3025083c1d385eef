"""``manage.py makemessages -l zh_Hans``: Django's, with keywords of modules that do not import Django."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=gettext_noop", "--sort-output"]
