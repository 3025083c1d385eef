"""What a browser does to sign in with an issuer."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount

from registry.models import User
from tests.pages import parts, select
from tests.servers.issuer import (
    callback_path,
)


def start(client, name="acme", **form):
    """The address at the issuer to which the browser goes."""
    page = client.post(f"/sign-in/with/{name}/", form)
    assert page.status_code == 200, page.content
    (link,) = select(page, "a", data_action="continue")
    return link["href"]


def finish(client, answer, name="acme"):
    return client.get(callback_path(name, answer))


def sign_in(client, issuer, **form):
    return finish(client, issuer.authorize(start(client, **form)))


def signed_in_name(client):
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else None


def codes(page):
    return [part.attributes.get("data-code") for part in parts(page)]


def refused(client, answer, code):
    """Whether the next page shows this code, and nobody was signed in or created."""
    assert answer["Location"] == "/sign-in/"
    return (
        code in codes(client.get("/sign-in/"))
        and signed_in_name(client) is None
        and not SocialAccount.objects.exists()
    )
