"""Endpoints that export and erase the caller's own data. They require a session."""

from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc
from registry.api.endpoint import Endpoint
from registry.api.errors import FIELD_INVALID
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.erasure import export, people
from registry.identity.errors import SIGN_IN_REQUIRED

operation = Operations("site")


class ExportDoc(Doc):
    account = serializers.DictField()
    memberships = serializers.ListField(child=serializers.DictField())
    pins = serializers.ListField(
        child=serializers.DictField(), help_text="Skills that you pinned to your home page."
    )
    tokens = serializers.ListField(
        child=serializers.DictField(), help_text="Access tokens, without their secrets."
    )
    sessions = serializers.IntegerField(help_text="The number of your open sessions.")
    versions = serializers.ListField(child=serializers.DictField(), help_text="Versions that you published.")
    uses = serializers.ListField(child=serializers.DictField())
    audit = serializers.ListField(child=serializers.DictField(), help_text="Audit entries of your actions.")
    inputs = serializers.ListField(child=serializers.DictField())
    runs = serializers.ListField(child=serializers.DictField(), help_text="Your runs, inputs and outputs.")


class EraseAccountRequest(Shape):
    username = StrictText(max_length=150, help_text="Your username, as a confirmation.")


class ErasedAccountDoc(Doc):
    pseudonym = serializers.CharField(help_text="Opaque name that replaces your username.")


class MyExport(Endpoint):
    requires_sign_in = True

    @operation("export_me", "Export your data", answer=ExportDoc)
    def get(self, request: Request) -> HttpResponseBase:
        """Returns all data stored about you, including the inputs and outputs of your runs."""
        if self.actor.user is None:
            raise SIGN_IN_REQUIRED.refusal()
        written = export.write_export(self.actor.user, self.actor)
        if unchanged := etag.not_modified(request, written.etag):
            written.file.close()
            return unchanged
        response = FileResponse(written.file, content_type="application/json")
        response["ETag"] = written.etag
        return etag.set_private(response)


class MyErasure(Endpoint):
    requires_sign_in = True

    @operation("erase_me", "Erase your account", body=EraseAccountRequest, answer=ErasedAccountDoc)
    def post(self, request: Request) -> HttpResponse:
        """Permanently replaces your user name by an opaque name, and deletes your tokens, your sessions and
        the content of your runs. Versions that you published stay under the opaque name. Fails if you are
        the last administrator, or the last owner of a team with other members.
        """
        user = self.actor.user
        if user is None:
            raise SIGN_IN_REQUIRED.refusal()
        if read_body(EraseAccountRequest, request.data)["username"] != user.username:
            raise FIELD_INVALID.refusal(field="username", reason="This is not your username.").at("username")
        erased = people.erase_person(user, self.actor)
        return etag.document_response(request, {"pseudonym": erased.username})
