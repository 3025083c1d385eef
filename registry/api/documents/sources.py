from rest_framework import serializers

from registry.api.documents.skills import AddressField, Doc
from registry.models import SourceKind


class SourceDoc(Doc):
    id = serializers.CharField(source="uid")
    team = serializers.CharField(source="team.slug")
    kind = serializers.ChoiceField(choices=SourceKind.choices)
    location = serializers.CharField()
    options = serializers.DictField()
    visibility = serializers.CharField(help_text="The visibility of new skills; empty for private.")
    interval_s = serializers.IntegerField(allow_null=True)
    next_at = serializers.DateTimeField(allow_null=True)
    last_revision = serializers.CharField(help_text="The commit, ETag or digest of the last import.")
    created_at = serializers.DateTimeField()
    url = AddressField("/api/v1/sources/{0.uid}")
