from rest_framework import serializers

from registry.api.documents.skills import Doc

MAX_PATHS = 1000  # per request


class ReasonDoc(Doc):
    kind = serializers.CharField()
    field = serializers.CharField()
    text = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    share = serializers.FloatField()


class SearchHitDoc(Doc):
    skill = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    score = serializers.FloatField()
    tier = serializers.CharField()
    reasons = ReasonDoc(many=True)
