"""Examples that use a new access token, and names of browsers."""

from django.utils.translation import gettext as _

from registry.core.addresses import absolute_url

_PYTHON = """import json
import urllib.request

request = urllib.request.Request(
    "{url}", headers={{"Authorization": "Bearer {secret}"}}
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))"""

# Names in a user agent. The first match wins, because most browsers also name browsers that they imitate.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def token_examples(secret: str) -> list[dict[str, str]]:
    """Examples with the secret filled in: dicts with ``id``, ``label`` and ``text``."""
    url = absolute_url("/api/v1/me")
    curl = f'curl -H "Authorization: Bearer {secret}" {url}'
    return [
        {"id": "curl", "label": "curl", "text": curl},
        {"id": "python", "label": "Python", "text": _PYTHON.format(url=url, secret=secret)},
        {"id": "env", "label": _("Environment variable"), "text": f"export SKILLQUAY_TOKEN={secret}"},
    ]


def client_name(user_agent: str) -> str:
    """Browser and operating system, such as "Firefox · Linux"; omits a part that the user agent does not
    name.
    """
    found = [
        next((name for mark, name in names if mark in user_agent), "") for names in (_BROWSERS, _SYSTEMS)
    ]
    return " · ".join(filter(None, found)) or _("Unknown browser")
