import json
import re

import pytest
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import validate
from rest_framework import serializers

from registry.api.attachments import ZIP_TYPES
from registry.imports.api.requests import ARCHIVES as IMPORT_TYPES
from registry.versions.api.publish import ARCHIVES as PACKAGE_TYPES
from tests.api import test_walk
from tests.api.conftest import SKILL_MD, archive
from tests.architecture.sources import ROOT

pytestmark = [pytest.mark.row("P8"), pytest.mark.django_db]
BINARY = {"type": "string", "format": "binary"}
FORMS = ("ArchiveUploadForm", "InputUploadForm", "PackageUploadForm")


@pytest.fixture(scope="module")
def schema():
    return json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))


def addresses():
    """The addresses of our own API; those of other protocols below it are described where they belong."""
    return [route for route in test_walk.addresses() if "/.well-known/" not in route]


def operations(schema):
    return [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if method != "parameters"
    ]


def test_openapi_document_is_valid_and_generated_without_a_warning(schema, tmp_path):
    validate(schema)
    call_command("spectacular", fail_on_warn=True, file=str(tmp_path / "openapi.yml"))


def test_every_address_is_in_the_openapi_document(schema):
    documented = {re.sub(r"\{\w+\}", "{}", path) for path in schema["paths"]}
    ours = {"/api/v1/" + re.sub(r"<\w+:\w+>", "{}", route) for route in addresses()}
    assert ours == documented


def error_schema(schema, response):
    shared = schema["components"]["responses"][response["$ref"].rpartition("/")[2]]
    assert shared["description"]
    return shared["content"]["application/json"]["schema"]["$ref"]


def test_every_operation_has_a_summary_an_example_and_the_error_shape(schema):
    for path, method, operation in operations(schema):
        assert operation["summary"], path
        assert operation["description"], path
        for status, response in operation["responses"].items():
            assert status.startswith("2") or error_schema(schema, response).endswith("/Error"), path
        json_answers = [
            body
            for answer in operation["responses"].values()
            for kind, body in answer.get("content", {}).items()
            if kind == "application/json"
        ]
        assert all("examples" in body for body in json_answers), (method, path)
        if method == "post":
            assert "Idempotency-Key" in {p["name"] for p in operation["parameters"]}, path


def allow_null(node):
    """``nullable`` next to ``allOf``, as clients read it: null, or the object."""
    if isinstance(node, dict):
        if node.get("nullable") and "allOf" in node:
            node = {"anyOf": [*node["allOf"], {"nullable": True, "enum": [None]}]}
        return {key: allow_null(value) for key, value in node.items()}
    return [allow_null(value) for value in node] if isinstance(node, list) else node


def test_every_example_fits_its_schema(schema):
    components = allow_null(schema["components"])
    problems = []
    for path, method, operation in operations(schema):
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        bodies += schema["components"]["responses"].values()
        for content in [content for body in bodies for content in body.get("content", {}).values()]:
            validator = OAS30Validator({**content["schema"], "components": components})
            for example in content.get("examples", {}).values():
                errors = validator.iter_errors(example["value"])
                problems += [f"{method} {path} {error.json_path}: {error.message}" for error in errors]
    assert problems == []


def test_every_example_belongs_to_a_schema_or_an_operation(schema):
    examples = [json.loads((ROOT / app / "api/examples.json").read_text()) for app in ("registry", "worker")]
    named = {name for each in examples for name in each["schemas"]}
    assert named <= {*schema["components"]["schemas"]}
    ids = {operation["operationId"] for _, _, operation in operations(schema)}
    assert {name for each in examples for name in each["operations"]} <= ids


def test_uploads_and_downloads_are_binary_in_every_content_type(schema):
    text = json.dumps([schema["components"]["schemas"][name] for name in FORMS])
    assert text.count('"format": "binary"') == 4
    assert '"format": "uri"' not in text
    bodies = {o["operationId"]: o.get("requestBody", {}).get("content", {}) for *_, o in operations(schema)}
    uploads = {name: {*content} for name, content in bodies.items()}
    assert uploads["publish_package"] == uploads["migrate_package"] == {*PACKAGE_TYPES, "multipart/form-data"}
    assert uploads["import_skills"] == {*IMPORT_TYPES, "application/json", "multipart/form-data"}
    answers = {
        o["operationId"]: o["responses"].get("200", {}).get("content", {}) for *_, o in operations(schema)
    }
    contents = [pair for name in bodies for pair in {**bodies[name], **answers[name]}.items()]
    assert {*answers["download_version"]} == {*answers["download_template"]} == {*ZIP_TYPES}
    texts = ("application/json", "application/xml")
    files = [body for kind, body in contents if kind.startswith("application/") and kind not in texts]
    assert len(files) > len(PACKAGE_TYPES)
    assert all(body["schema"] == BINARY for body in files)


@pytest.mark.parametrize("kind", [*PACKAGE_TYPES])
def test_documented_content_types_are_accepted(as_alice, team, kind):
    body = archive() if kind != "text/markdown" else SKILL_MD.encode()
    answer = as_alice("POST", "packages?team=docs&dry_run=1", body, kind=kind)
    assert answer.json()["ok"] is True


def test_zips_have_the_general_type_if_a_client_accepts_no_other(as_bob, version):
    path = "skills/docs/summarise/versions/1.0.0/archive"
    for accepted, kind in (("*/*", ZIP_TYPES[0]), (ZIP_TYPES[1], ZIP_TYPES[1])):
        answer = as_bob.get(path, headers={"Accept": accepted})
        answer.close()
        assert answer["Content-Type"] == kind
        assert "Accept" in answer["Vary"]


def test_only_operations_without_sign_in_are_open_to_anonymous_clients(schema):
    is_open = {o["operationId"]: {} in o["security"] for *_, o in operations(schema)}
    assert is_open["search_skills"]
    assert is_open["match_skills"]
    assert not is_open["list_runs"]
    assert not is_open["publish_package"]


def test_both_ways_to_sign_in_are_described(schema):
    schemes = schema["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["session"]["in"] == "cookie"


def test_every_address_is_in_the_written_reference():
    text = (ROOT / "docs/reference/api.md").read_text()
    named = [re.sub(r"<\w+:(\w+)>", r"{\1}", route) for route in addresses()]
    assert [route for route in named if f"/{route}`" not in text and f"/{route}?" not in text] == []


def test_the_document_is_served_to_everybody(anonymous):
    answer = anonymous.get("/api/schema/?format=json")
    assert answer.status_code == 200
    assert json.loads(answer.content)["openapi"].startswith("3.")
    assert anonymous.get("/api/schema/").status_code == 200


@pytest.mark.row("P9")
def test_the_docs_load_nothing_from_elsewhere_and_hold_no_inline_script(anonymous):
    page = anonymous.get("/api/docs/")
    html = page.content.decode()
    assert page.status_code == 200
    assert "script-src 'self'" in page["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\bsrc=)", html)
    assert "<style" not in html
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', html)
    script = re.findall(r'src="([^"]+)"', html)[-1].replace("&amp;", "&")
    answer = anonymous.get(script)
    assert answer["Content-Type"].startswith("application/javascript")
    assert "SwaggerUIBundle" in answer.content.decode()


def test_the_guide_for_agents_fits_a_screen_and_names_the_public_address(anonymous, settings):
    settings.SKILLQUAY_PUBLIC_URL = "https://skills.example"
    answer = anonymous.get("/llms.txt", HTTP_HOST="evil.example")
    text = answer.content.decode()
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "https://skills.example/api/v1" in text
    assert "evil" not in text
    assert len(text.splitlines()) < 60


@pytest.mark.row("P7")
def test_no_two_shapes_share_a_name_in_the_document():
    def below(kind):
        for one in kind.__subclasses__():
            yield from (one, *below(one))

    ours = [
        one for one in below(serializers.Serializer) if one.__module__.split(".")[0] in ("registry", "worker")
    ]
    names = [one.__name__ for one in ours]
    assert sorted({name for name in names if names.count(name) > 1 and not name.endswith("Query")}) == []
