"""The three people of every test: Alice owns the team, Bob is a member of it, Charlie must see nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["tests.skipping"]
ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


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


@pytest.fixture(autouse=True)
def var_folder(tmp_path_factory, settings):
    """Blobs and other files of a test go to a folder of its own."""
    settings.SKILLQUAY_VAR = tmp_path_factory.mktemp("var")
    return settings.SKILLQUAY_VAR


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
def actor_of():
    """``actor_of(user)``: the actor of a session of that person."""
    from registry.actors import Actor

    return lambda user: Actor(user=user)
