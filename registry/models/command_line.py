from django.db import models

from registry.models.fields import DocumentField
from registry.models.version import Version
from registry.packages.command_lines import CommandLine, from_document


class CommandLineOrigin(models.TextChoices):
    """The source of a command line. If the author provides an input schema, the script is not read."""

    INPUT_SCHEMA = "input_schema"
    SCRIPT = "script"
    PARSER = "parser"


class EntryCommandLine(models.Model):
    """The command line of a version's script. Written only by ``registry.versions``."""

    version = models.ForeignKey(Version, models.CASCADE, related_name="command_lines")
    script = models.CharField(max_length=500)  # the id that requests name
    path = models.CharField(max_length=500)
    origin = models.CharField(max_length=16, choices=CommandLineOrigin)
    document = DocumentField()
    samples = DocumentField(default=list)  # arguments that the package's documents show, each a list of words
    asks_parser = models.BooleanField(default=False)  # a worker must still ask the script's own parser

    class Meta:
        indexes = [
            models.Index("id", condition=models.Q(asks_parser=True), name="command_lines_to_ask"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["version", "script"], name="one_command_line_per_script")
        ]

    @property
    def command_line(self) -> CommandLine:
        return from_document(self.document)
