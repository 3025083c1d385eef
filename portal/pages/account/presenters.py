"""Examples that use a new access token, and names of browsers."""

import json
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from portal.presenters.skill.install_lines import netrc_line
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
    """Commands of clients with the secret filled in: dicts with ``id``, ``label`` and ``text``."""
    me, mcp, npm = absolute_url("/api/v1/me"), absolute_url("mcp"), absolute_url("npm/")
    header = f"Authorization: Bearer {secret}"
    host = urlsplit(absolute_url("/")).hostname or ""
    export = f"export SKILLQUAY_TOKEN={secret}"
    claude = f'claude mcp add --transport http skillquay {mcp} --header "{header}"\nclaude mcp list'
    codex = f"{export}\ncodex mcp add skillquay --url {mcp} --bearer-token-env-var SKILLQUAY_TOKEN"
    servers = {
        "mcpServers": {
            "skillquay": {"type": "http", "url": mcp, "headers": {"Authorization": f"Bearer {secret}"}}
        }
    }
    npm_key = npm.partition(":")[2]
    texts = (
        ("claude", "Claude Code", claude),
        ("codex", "Codex", codex),
        ("mcp", "MCP", json.dumps(servers, indent=2)),
        ("npm", "npm", f'npm config set "{npm_key}:_authToken" {secret}\nnpm whoami --registry {npm}'),
        ("git", "git", netrc_line(host, secret)),
        ("python", "Python", _PYTHON.format(url=me, secret=secret)),
        ("curl", "curl", f'curl -H "{header}" {me}'),
        ("env", _("Environment variable"), export),
    )
    return [{"id": f"token-{name}", "label": label, "text": text} for name, label, text in texts]


def client_name(user_agent: str) -> str:
    """Browser and operating system, such as "Firefox · Linux". Omits a part that is not recognized."""
    found = [
        next((name for mark, name in names if mark in user_agent), "") for names in (_BROWSERS, _SYSTEMS)
    ]
    return " · ".join(filter(None, found)) or _("Unknown browser")
