from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request

from registry.api import etag
from registry.api.documents.skills import Doc, ProblemDoc
from registry.api.endpoint import SkillEndpoint
from registry.api.idempotency import idempotent
from registry.api.schema import Operations, Shape, StrictText, read_body
from registry.core.hooks import DEPENDENCY_STATES
from registry.identity.permissions import Action
from worker.dependencies.runtimes.choice import choose_runtime
from worker.dependencies.status import cancel_builds, dependencies_document, rebuild_dependencies
from worker.models import DependencyBuildState, DependencyKind

operation = Operations("versions")


class DependencyDoc(Doc):
    name = serializers.CharField()
    version = serializers.CharField()
    hash = serializers.CharField(
        help_text="SHA-256 of the wheel or remote module, or the integrity value of the npm or Deno "
        "lock file."
    )


class DependencyBuildDoc(Doc):
    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=DependencyKind.values)
    platform = serializers.CharField(help_text="Interpreter and machine architecture of the build.")
    state = serializers.ChoiceField(choices=DependencyBuildState.values)
    problem = ProblemDoc(allow_null=True)
    packages = DependencyDoc(many=True)
    size = serializers.IntegerField(help_text="Size of the stored dependencies in bytes.")
    attempt = serializers.IntegerField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    log = serializers.CharField(
        help_text="Output of the installer. Empty unless you can read the team's runs."
    )


class VersionRuntimeDoc(Doc):
    name = serializers.CharField(help_text='The runtime, such as `office`; "" without a runtime.')
    origin = serializers.ChoiceField(
        choices=["", "skill", "maintainer"], help_text="`skill` if SKILL.md names the runtime."
    )
    chosen_by = serializers.CharField(
        allow_null=True, help_text="Maintainer who chose the runtime; otherwise null."
    )


class RuntimeRequest(Shape):
    runtime = StrictText(
        allow_blank=True, max_length=32, help_text='`office`, `data`, `web` or `tools`; "" removes it.'
    )


class DependenciesDoc(Doc):
    version = serializers.CharField()
    state = serializers.ChoiceField(choices=DEPENDENCY_STATES)
    runtime = VersionRuntimeDoc()
    builds = DependencyBuildDoc(many=True)


class VersionDependencies(SkillEndpoint):
    required_actions = {"GET": (Action.SEE,), "POST": (Action.RELEASE,)}

    @operation("get_dependencies", "Get a version's dependencies and their builds", answer=DependenciesDoc)
    def get(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Returns the builds of the version's dependencies. Builds start at publication; versions with the
        same requirements share them.
        """
        version = self.version(team, slug, number)
        return etag.document_response(request, dependencies_document(version, self.actor))

    @operation("build_dependencies", "Retry a version's failed dependency builds", answer=DependenciesDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Queues failed and missing builds; other builds do not change. Requires at least the maintainer
        role, or administrator rights.
        """
        version = self.version(team, slug, number)
        rebuild_dependencies(version, self.actor)
        return etag.document_response(request, dependencies_document(version, self.actor))


class DependenciesCancel(SkillEndpoint):
    required_actions = {"POST": (Action.RELEASE,)}

    @operation("cancel_dependencies", "Cancel a version's dependency builds", answer=DependenciesDoc)
    @idempotent()
    def post(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Ends waiting and running builds as failed with `DEPENDENCIES_CANCELLED`; others do not change. Runs
        that wait for them are refused with the same code. Requires at least the maintainer role in the
        teams of all skills that need the builds, or administrator rights.
        """
        version = self.version(team, slug, number)
        cancel_builds(version, self.actor)
        return etag.document_response(request, dependencies_document(version, self.actor))


class VersionRuntime(SkillEndpoint):
    required_actions = {"PUT": (Action.RELEASE,)}

    @operation("choose_runtime", "Choose a version's runtime", body=RuntimeRequest, answer=DependenciesDoc)
    def put(self, request: Request, team: str, slug: str, number: str) -> HttpResponse:
        """Sets the version's runtime and queues the builds that it needs; the package does not change.
        Refused if SKILL.md names a runtime. Requires at least the maintainer role, or administrator rights.
        """
        version = self.version(team, slug, number)
        choose_runtime(version, read_body(RuntimeRequest, request.data)["runtime"], self.actor)
        return etag.document_response(request, dependencies_document(version, self.actor))
