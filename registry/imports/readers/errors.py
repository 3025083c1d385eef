"""Error codes of import sources that are read over the network."""

from registry.packages.problems import declare
from registry.packages.problems import gettext_noop as _

SOURCE_ADDRESS = declare("SOURCE_ADDRESS", lambda *, location, reason, example: ...)(
    _("%(location)s is not a valid address for this source type: %(reason)s."),
    _("Use an address such as %(example)s."),
)
SOURCE_CREDENTIALS = declare("SOURCE_CREDENTIALS", lambda *, name: ...)(
    _("The credentials %(name)s are not available for this team and address."),
    _(
        "Ask an administrator to configure the credentials in SKILLQUAY_SOURCE_…, as described in "
        "docs/reference/imports.md."
    ),
)
SOURCE_CONTENT = declare("SOURCE_CONTENT")(
    _("The content at this address is neither an archive nor a SKILL.md."),
    _("Use the direct address of a zip, tar.gz or SKILL.md file, not of a web page about it."),
)
SOURCE_ANSWER = declare("SOURCE_ANSWER", lambda *, host, reason: ..., http=502)(
    _("Can't read the response from %(host)s: %(reason)s."),
    _("Check that the address matches the source type."),
)
SOURCE_EMPTY = declare("SOURCE_EMPTY", lambda *, location: ...)(
    _("Nothing found at %(location)s."), _("Check the bucket, object key and prefix.")
)
SOURCE_TOO_LARGE = declare("SOURCE_TOO_LARGE", lambda *, limit, unit: ...)(
    _("The source exceeds the limit of %(limit)s %(unit)s."),
    _(
        "Split the source or import only a part of it. If the limit is on bytes, "
        "files or objects, an administrator can raise it."
    ),
)
SOURCE_NAME = declare("SOURCE_NAME", severity="notice")(
    _("The file was skipped because its name is not a valid path."),
    _("If the file belongs to a skill, give it a valid name, then import again."),
)
GIT_REPOSITORY = declare("GIT_REPOSITORY")(
    _("There is no Git repository at this address, or it is not accessible."),
    _("Check the address; private repositories need credentials, as described in docs/reference/imports.md."),
)
GIT_REF = declare("GIT_REF", lambda *, what, name: ...)(
    _("The repository has no %(what)s %(name)s."),
    _(
        "Correct the branch name, or add a version tag to the repository. To import the default "
        "branch, leave out `branch` and `tags`."
    ),
)
GIT_PATH = declare("GIT_PATH", lambda *, name: ...)(
    _("The folder %(name)s was not found in the commit."),
    _("Use the path of an existing folder, relative to the root of the repository."),
)
GIT_SUBMODULE = declare("GIT_SUBMODULE", severity="notice")(
    _("The submodule was skipped because it is a separate repository."),
    _("Import that repository as a separate source."),
)
MCP_REFUSED = declare("MCP_REFUSED", lambda *, method, reason: ..., http=502)(
    _("The MCP server rejected %(method)s: %(reason)s."),
    _("Check the address and credentials, and make sure that the server provides prompts."),
)
