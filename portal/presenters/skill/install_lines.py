"""Shell commands, to copy, that install or run a skill."""

from django.utils.translation import gettext as _

from portal.presenters.skill.curl import run_line
from portal.presenters.skill.runnable_version import RunnableVersion, example_call
from registry.core.addresses import absolute_url
from registry.models import Version, Visibility


def install_lines(runnable: RunnableVersion) -> list[dict[str, str]]:
    """Commands that download the version and, if it can run, start a run: dicts with id, label and text."""
    found = [download_line(runnable.version)]
    if runnable.callable or runnable.entry_points.prompt:
        command = run_line(example_call(runnable), indent=None)
        found.append({"id": "install-run", "label": _("Start a run"), "text": command})
    return found


def download_line(version: Version) -> dict[str, str]:
    """The command that downloads and unpacks the version; it sends a token unless the skill is public."""
    skill = version.skill
    archive = f"{skill.slug}-{version.number}.zip"
    address = absolute_url(f"/api/v1/skills/{skill}/versions/{version.number}/archive")
    token = (
        ""
        if skill.effective_visibility == Visibility.PUBLIC
        else ' -H "Authorization: Bearer $SKILLQUAY_TOKEN"'
    )
    folder = f".claude/skills/{skill.slug}"
    text = f"curl -fsSL{token} -o {archive} {address}\nmkdir -p {folder} && unzip -o {archive} -d {folder}"
    return {"id": "install-download", "label": _("Download and unpack"), "text": text}
