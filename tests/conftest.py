"""The three people of every test: Alice owns the team, Bob is a member of it, Charlie must see nothing."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tests import cluster, migrated

pytest_plugins = ["tests.skipping"]
ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """After shuffling, whole sites first: at the end one process would wait for them alone."""
    items.sort(key=lambda item: item.get_closest_marker("faults") is None)


def pytest_collection_finish() -> None:
    """Thousands of tests live until the end: the collector of garbage need not look through them again."""
    gc.freeze()


@pytest.fixture
def shared() -> Path:
    """The project's source documents, beside the checkout; a clone without them skips, saying so."""
    if not SHARED.is_dir():
        pytest.skip("../shared is absent: the source documents are not part of the project")
    return SHARED


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """The real hash takes half a second for each of the three."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory, django_db_modify_db_settings):
    """A file, as a site's is: of threads that write to one in memory, one is refused and does not wait."""
    from django.db import connection

    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "tests.sqlite3")


@pytest.fixture(scope="session", autouse=True)
def bucket():
    """Where the suite runs on S3, the bucket is made once."""
    cluster.make_bucket()


@pytest.fixture(scope="session", autouse=True)
def migrated_database(django_db_setup, django_db_blocker, tmp_path_factory):
    """What sites in processes of their own begin from."""
    with django_db_blocker.unblock(), migrated.kept(tmp_path_factory.mktemp("migrated")):
        yield


@pytest.fixture(scope="session", autouse=True)
def connections_stay():
    """The end of a request closes no connection: PostgreSQL keeps a test's transaction in it."""
    from django.core.signals import request_finished, request_started
    from django.db import close_old_connections
    from django.test import client

    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    client.close_old_connections = lambda **kwargs: None  # what it connects again after each request


@pytest.fixture(autouse=True)
def var_folder(tmp_path_factory, settings):
    """Blobs and other files of a test go to a folder of its own, and to a prefix of its own where S3 is."""
    settings.SKILLQUAY_VAR = tmp_path_factory.mktemp("var")
    settings.STORAGE_URL = cluster.own_storage()
    return settings.SKILLQUAY_VAR


@pytest.fixture
def on_disk(settings):
    """What is true of blobs on this machine's disk alone."""
    settings.STORAGE_URL = ""


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
    """The administrator's session."""
    return actor_of(administrator)


@pytest.fixture
def stranger(charlie, actor_of):
    """Charlie's session: nobody of the team's."""
    return actor_of(charlie)


@pytest.fixture
def actor_of():
    """``actor_of(user)``: the actor of a session of that person."""
    from registry.actors import Actor

    return lambda user: Actor(user=user)
