from rest_framework import serializers

from registry.api.documents.skills import Doc


class AbilityChangeDoc(Doc):
    name = serializers.CharField(
        help_text=(
            "The permission or property that differs: hosts, filesystem, environment, secrets, tools, "
            "skills, hooks, shell, timeout_ms, memory_mb, scripts, libraries, abp_tools, entry, type, "
            "protocol or context."
        )
    )
    added = serializers.ListField(child=serializers.CharField())
    removed = serializers.ListField(child=serializers.CharField())
    broader = serializers.BooleanField(help_text="Whether the later version has, or might have, more access.")


class SchemaChangeDoc(Doc):
    pointer = serializers.CharField(help_text="JSON pointer to the value; empty for the whole schema.")
    effect = serializers.ChoiceField(choices=["breaking", "compatible", "unclear"])
    reason = serializers.CharField()


class ToolChangeDoc(Doc):
    tool = serializers.CharField()
    changes = SchemaChangeDoc(many=True)


class FieldChangeDoc(Doc):
    name = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    added = serializers.ListField(child=serializers.CharField())
    removed = serializers.ListField(child=serializers.CharField())


class FileSideDoc(Doc):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()


class DiffLineDoc(Doc):
    kind = serializers.ChoiceField(choices=["changed", "removed", "added"])
    before_line = serializers.IntegerField(allow_null=True)
    after_line = serializers.IntegerField(allow_null=True)
    before = serializers.CharField()
    after = serializers.CharField()


class FileChangeDoc(Doc):
    kind = serializers.ChoiceField(choices=["added", "removed", "changed", "renamed"])
    path = serializers.CharField()
    before = FileSideDoc(allow_null=True)
    after = FileSideDoc(allow_null=True)
    lines = DiffLineDoc(many=True, required=False)


class ComparisonDoc(Doc):
    skill = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    same_permissions = serializers.BooleanField(
        help_text="Whether permissions, schemas and tools are unchanged."
    )
    breaking = serializers.BooleanField(help_text="Whether the change can break callers.")
    added_permissions = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Permissions that the later version requests and the earlier one does not; they "
        "need a new approval.",
    )
    abilities = AbilityChangeDoc(many=True)
    input_schema = SchemaChangeDoc(many=True)
    output_schema = SchemaChangeDoc(many=True)
    tools = ToolChangeDoc(many=True)
    manifest = FieldChangeDoc(many=True)
    files = FileChangeDoc(many=True)
