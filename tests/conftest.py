"""The users of every test: Alice owns the team, Bob is a member, Charlie has no access to it."""

from __future__ import annotations

import gc
import secrets
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import cluster, migrated

pytest_plugins = ["tests.skipping", "tests.suites"]
ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"

# A machine that is busy with other tests draws slowly; that is no failure.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the tests of whole sites first: at the end, one process would run them alone."""
    items.sort(key=lambda item: item.get_closest_marker("faults") is None)


def pytest_collection_finish() -> None:
    """Excludes the collected tests from garbage collection: they live until the end."""
    gc.freeze()


@pytest.fixture
def shared() -> Path:
    """The folder of source documents next to the checkout. Tests that need it skip without it."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent: the source documents are not part of the project")
    return SHARED


@pytest.fixture(autouse=True)
def fast_password_hasher(settings):
    """Hashes passwords with MD5: the real hash takes half a second per user."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory, django_db_modify_db_settings):
    """Uses a SQLite file, as a site does: in memory, concurrent writers fail instead of waiting."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "tests.sqlite3")


@pytest.fixture(scope="session", autouse=True)
def bucket():
    """Creates the S3 bucket once, if the suite runs on S3."""
    cluster.make_bucket()


@pytest.fixture(scope="session", autouse=True)
def migrated_database(request, tmp_path_factory):
    """The migrated database that sites in separate processes copy."""
    if request.config.getoption("--suite") == "fast":
        yield
        return
    request.getfixturevalue("django_db_setup")
    blocker = request.getfixturevalue("django_db_blocker")
    with blocker.unblock(), migrated.kept(tmp_path_factory.mktemp("migrated")):
        yield


@pytest.fixture(scope="session", autouse=True)
def keep_connections():
    """Keeps database connections open after a request: on PostgreSQL they hold the test's transaction."""
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections
    from django.test import client

    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    # The test client reconnects this function after each request.
    setattr(client, "close_old_connections", lambda **kwargs: None)  # noqa: B010


@pytest.fixture(scope="session", autouse=True)
def packaged_static_files():
    """Looks up the packages' static files once per process, not for each client of a test (40 ms)."""
    from portal.delivery.static_files import StaticFilesMiddleware

    found: dict[str, object] = {}
    look_up = StaticFilesMiddleware.add_files_from_finders

    def add_files_from_finders(middleware):
        if not found:
            before = dict(middleware.files)
            middleware.files.clear()
            look_up(middleware)
            found.update(middleware.files)
            middleware.files = before
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFilesMiddleware, "add_files_from_finders", add_files_from_finders)
        yield


@pytest.fixture(autouse=True)
def var_folder(tmp_path_factory, settings):
    """Gives each test its own folder for files, without collected static files, and its own prefix on S3."""
    from django.contrib.staticfiles.storage import staticfiles_storage
    from django.core.files.storage import storages
    from django.utils.functional import empty

    settings.SKILLQUAY_VAR = tmp_path_factory.mktemp("var")
    settings.STATIC_ROOT = settings.SKILLQUAY_VAR / "static"
    vars(storages)["_storages"].pop("staticfiles", None)
    setattr(staticfiles_storage, "_wrapped", empty)  # noqa: B010
    settings.STORAGE_URL = cluster.own_storage()
    return settings.SKILLQUAY_VAR


@pytest.fixture(autouse=True)
def own_rate_counts(monkeypatch):
    """Counts each test's requests from zero, also in a Redis that outlives the test."""
    from registry.rates.counters import RateCounter

    monkeypatch.setattr("registry.rates.counters.counter", RateCounter(f"{secrets.token_hex(8)}:"))


@pytest.fixture(autouse=True)
def own_cache(settings):
    """Starts each test with an empty cache, also in a Redis that outlives the test."""
    if settings.REDIS_URL:
        settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": secrets.token_hex(8)}}


@pytest.fixture
def rate_limits(settings, monkeypatch):
    """``rate_limits(search=2)``: sets limits of a minute that does not end, and switches off the others."""
    later = time.time() + 3600
    monkeypatch.setattr("registry.rates.counters.time", lambda: later)

    def choose(**chosen):
        settings.SKILLQUAY_RATE_LIMITS = dict.fromkeys(settings.SKILLQUAY_RATE_LIMITS, 0) | chosen

    return choose


@pytest.fixture
def local_storage(settings):
    """Stores blobs on the local disk even if the suite runs on S3."""
    settings.STORAGE_URL = ""


@pytest.fixture(scope="session")
def s3_server():
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture(params=["disk", "s3"])
def place(request, settings, tmp_path):
    """Runs a test twice: with blobs on a disk, and on S3 over HTTP."""
    settings.STORAGE_URL = ""
    if request.param == "s3":
        import boto3

        settings.SKILLQUAY_S3_ENDPOINT = request.getfixturevalue("s3_server")
        settings.SKILLQUAY_S3_ACCESS_KEY = settings.SKILLQUAY_S3_SECRET_KEY = "testing"
        settings.STORAGE_URL = f"s3://{tmp_path.name.replace('_', '-')}/some/prefix"
        boto3.client(
            "s3",
            endpoint_url=settings.SKILLQUAY_S3_ENDPOINT,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            region_name="us-east-1",
        ).create_bucket(Bucket=tmp_path.name.replace("_", "-"))
    return request.param


def _user(username, **more):
    from registry.models import User

    return User.objects.create_user(username=username, password=f"{username}-password", **more)


@pytest.fixture
def team(db):
    from registry.models import Team

    return Team.objects.create(slug="docs", name="Docs")


@pytest.fixture
def alice(team):
    from registry.models import Membership, Role

    user = _user("alice")
    Membership.objects.create(team=team, user=user, role=Role.OWNER)
    return user


@pytest.fixture
def bob(team):
    from registry.models import Membership, Role

    user = _user("bob")
    Membership.objects.create(team=team, user=user, role=Role.MEMBER)
    return user


@pytest.fixture
def charlie(db):
    from registry.models import Membership, Role, Team

    user = _user("charlie")
    Membership.objects.create(
        team=Team.objects.create(slug="elsewhere", name="Elsewhere"), user=user, role=Role.OWNER
    )
    return user


@pytest.fixture
def administrator(db):
    return _user("root", is_superuser=True, is_staff=True)


@pytest.fixture
def root(administrator, actor_of):
    """The administrator as an actor."""
    return actor_of(administrator)


@pytest.fixture
def stranger(charlie, actor_of):
    """Charlie as an actor without access to the team."""
    return actor_of(charlie)


@pytest.fixture
def actor_of():
    """``actor_of(user)``: the actor of a browser session of that user."""
    from registry.identity.actors import Actor

    return lambda user: Actor(user=user)
