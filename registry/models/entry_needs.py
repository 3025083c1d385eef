from django.db import models

from registry.models.fields import DocumentField
from registry.models.version import Version
from registry.packages.needs import ScriptNeeds, from_document


class EntryNeeds(models.Model):
    """The needs of one script of a version, such as modules and programs. Written only by
    ``registry.versions``.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="script_needs")
    path = models.CharField(max_length=500)
    document = DocumentField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "path"], name="one_needs_per_script")]

    @property
    def needs(self) -> ScriptNeeds:
        return from_document(self.document)
