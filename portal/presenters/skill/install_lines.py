"""Shell commands that users copy to install or run a skill."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from portal.presenters.skill.curl import run_line
from portal.presenters.skill.runnable_version import RunnableVersion, example_call
from registry.core.addresses import absolute_url
from registry.models import Version, Visibility

_TOKEN = "$SKILLQUAY_TOKEN"


def install_lines(runnable: RunnableVersion) -> list[dict[str, str]]:
    """Commands that install the version and, if it can run, start a run: dicts with id, label and text."""
    found = client_lines(runnable.version)
    if runnable.callable or runnable.entry_points.prompt:
        command = run_line(example_call(runnable), indent=None)
        found.append({"id": "install-run", "label": _("Start a run"), "text": command})
    return found


def client_lines(version: Version) -> list[dict[str, str]]:
    """Commands of clients that install or load the skill, and the download; ``npx skills`` reads public
    skills only.
    """
    skill = version.skill
    plugins = _plugin_lines(version)
    more = [*_mcp_lines(version), *_git_lines(version), _download_line(version)]
    npm = (
        f"npm config set @{skill.team.slug}:registry {absolute_url('npm/')}\n"
        f"npm install @{skill.team.slug}/{skill.slug}@{version.number}"
    )
    if not _is_public(version):
        address = absolute_url("npm/").partition(":")[2]
        npm = f'npm config set "{address}:_authToken" "$SKILLQUAY_TOKEN"\n{npm}'
        return [*plugins, {"id": "install-npm", "label": "npm", "text": npm}, *more]
    skills, address = "npx skills add", absolute_url(str(skill))
    exact = _("npx skills, this version")
    return [
        *plugins,
        {"id": "install-skills", "label": "npx skills", "text": f"{skills} {address}"},
        {"id": "install-skills-exact", "label": exact, "text": f"{skills} {address}/{version.number}"},
        {"id": "install-npm", "label": "npm", "text": npm},
        *more,
    ]


def need_token(lines: Iterable[Mapping[str, str]]) -> bool:
    """Whether any of the commands reads an access token from the environment."""
    return any(_TOKEN in line["text"] for line in lines)


def lines_with_token(version: Version, secret: str) -> list[dict[str, str]]:
    """The commands of ``client_lines`` with the secret of a token, which git reads from ``~/.netrc``."""
    host = urlsplit(absolute_url("/")).hostname or ""
    login = "" if _is_public(version) else f"{netrc_line(host, secret)}\n"
    git = {line["id"] for line in _plugin_lines(version)}
    return [
        line
        | {
            "id": f"new-{line['id']}",
            "text": (login if line["id"] in git else "") + line["text"].replace(_TOKEN, secret),
        }
        for line in client_lines(version)
    ]


def netrc_line(host: str, secret: str) -> str:
    """The command that stores the token for git and the clients that call it."""
    return f"echo 'machine {host} login token password {secret}' >> ~/.netrc"


def _is_public(version: Version) -> bool:
    return version.skill.effective_visibility == Visibility.PUBLIC


def _plugin_lines(version: Version) -> list[dict[str, str]]:
    """Commands that install the latest version as a plugin, or by its repository; none for other versions."""
    skill = version.skill
    if skill.latest_id != version.pk:
        return []
    team, git = skill.team.slug, absolute_url(f"{skill}.git")
    market = absolute_url(f"{team}/{'all' if _is_public(version) else 'all.private'}.git")
    claude = f"claude plugin marketplace add {market}\nclaude plugin install {skill.slug}@{team}"
    codex = f"codex plugin marketplace add {market}\ncodex plugin add {skill.slug}@{team}"
    gemini = f"gemini skills install {git} --consent"
    return [
        {"id": "install-claude", "label": "Claude Code", "text": claude},
        {"id": "install-codex", "label": "Codex", "text": codex},
        {"id": "install-gemini", "label": "Gemini CLI", "text": gemini},
    ]


def _git_lines(version: Version) -> list[dict[str, str]]:
    """The command that clones the version; none for a version without a tag."""
    if version.yanked_at or version.is_held:
        return []
    skill = version.skill
    token = "" if _is_public(version) else ' -c http.extraHeader="Authorization: Bearer $SKILLQUAY_TOKEN"'
    address, folder = absolute_url(f"{skill}.git"), f".claude/skills/{skill.slug}"
    text = f"git{token} clone --depth 1 --branch v{version.number} {address} {folder}"
    return [{"id": "install-git", "label": "git", "text": text}]


def _mcp_lines(version: Version) -> list[dict[str, str]]:
    """Commands that add the site's MCP server to a host and load the skill; none if it is not for agents."""
    if version.manifest.get("disable_model_invocation"):
        return []
    token = "" if _is_public(version) else ' --header "Authorization: Bearer $SKILLQUAY_TOKEN"'
    text = (
        f"claude mcp add --transport http skillquay {absolute_url('mcp')}{token}\n"
        f'claude "Load the skill {version} from skillquay"'
    )
    return [{"id": "install-mcp", "label": "MCP", "text": text}]


def _download_line(version: Version) -> dict[str, str]:
    """The command that downloads and unpacks the version; it sends a token unless the skill is public."""
    skill = version.skill
    archive = f"{skill.slug}-{version.number}.zip"
    address = absolute_url(f"/api/v1/skills/{skill}/versions/{version.number}/archive")
    token = "" if _is_public(version) else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    folder = f".claude/skills/{skill.slug}"
    text = f"curl -fsSL{token} -o {archive} {address}\nmkdir -p {folder} && unzip -o {archive} -d {folder}"
    return {"id": "install-download", "label": "curl", "text": text}
