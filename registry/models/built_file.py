from django.db import models

from registry.models.fields import DocumentField
from registry.models.skill import Skill


class BuiltFile(models.Model):
    """A file that a protocol builds from versions of a skill, kept so that no process builds it again.
    Written only by ``registry.facades.built_files``.
    """

    skill = models.ForeignKey(Skill, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8)  # the protocol
    key = models.CharField(max_length=64, unique=True)  # a digest of all that determines the content
    digest = models.CharField(max_length=71)  # "sha256:…" of the blob
    size = models.PositiveIntegerField()  # bytes
    source = models.CharField(max_length=64, blank=True)  # the key of the repository of an answer to git
    facts = DocumentField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["skill", "kind", "source"], name="built_of_skill")]
