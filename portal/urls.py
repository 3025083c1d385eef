"""Every address of a page; a tab is an address, so that Back and bookmarks work."""

from django.urls import URLPattern, URLResolver, include, path

from portal.views import (
    account,
    catalog,
    collisions,
    edit,
    errors,
    files,
    findings,
    glossary,
    home,
    imports,
    match,
    preferences,
    publish,
    run,
    run_form,
    runs,
    session,
    skill,
    skill_settings,
    start,
    teams,
    tokens,
    usage,
    use,
    version_changes,
    versions,
)
from registry.api import reference
from registry.api.webhooks import Hook

_SKILL = "skills/<slug:team>/<slug:slug>/"
_VERSION = _SKILL + "<str:number>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.page, name="home"),
    path("sign-in/", session.sign_in, name="sign-in"),
    path("sign-out/", session.sign_out, name="sign-out"),
    path("preferences/language/", preferences.set_language, name="set-language"),
    path("preferences/theme/", preferences.set_theme, name="set-theme"),
    path("account/", account.page, name="account"),
    path("account/export/", account.export, name="account-export"),
    path("account/erase/", account.erase, name="account-erase"),
    path("account/password/", session.password, name="password"),
    path("account/tokens/", tokens.page, name="tokens"),
    path("account/tokens/<str:uid>/revoke/", tokens.revoke, name="token-revoke"),
    path("teams/", teams.listing, name="teams"),
    path("teams/new/", teams.new, name="team-new"),
    path("teams/<slug:slug>/", teams.page, name="team"),
    path("teams/<slug:slug>/settings/", teams.settings, name="team-settings"),
    path("teams/<slug:slug>/members/", teams.add, name="member-add"),
    path("teams/<slug:slug>/members/<str:uid>/role/", teams.role, name="member-role"),
    path("teams/<slug:slug>/members/<str:uid>/remove/", teams.remove, name="member-remove"),
    path("skills/", catalog.page, name="catalog"),
    path("skills/collisions/", collisions.page, name="collisions"),
    path("skills/match/", match.page, name="match"),
    path(_SKILL, skill.overview, name="skill"),
    path(_SKILL + "versions/", versions.listing, name="versions"),
    path(_SKILL + "settings/", skill_settings.page, name="skill-settings"),
    path(_SKILL + "settings/undeprecate/", skill_settings.undeprecate, name="skill-undeprecate"),
    path(_SKILL + "channels/<str:name>/remove/", skill_settings.remove_channel, name="channel-remove"),
    path(_SKILL + "diff/<str:before>..<str:after>/", versions.diff, name="version-diff"),
    path(_SKILL + "run/", run_form.page, name="run-form"),
    path(_SKILL + "use/", use.page, name="use"),
    path(_SKILL + "usage/", usage.page, name="skill-usage"),
    path(_SKILL + "runs/", runs.of_skill, name="skill-runs"),
    path("glossary/", glossary.page, name="glossary"),
    path("glossary/changes/<str:uid>/undo/", glossary.undo, name="glossary-undo"),
    path("glossary/<str:uid>/change/", glossary.change, name="glossary-change"),
    path("glossary/<str:uid>/remove/", glossary.remove, name="glossary-remove"),
    path("imports/", imports.listing, name="imports"),
    path("imports/new/", imports.new, name="import-new"),
    path("imports/<str:uid>/", imports.page, name="import"),
    path("imports/<str:uid>/live/", imports.live, name="import-live"),
    path("imports/sources/<str:uid>/again/", imports.again, name="import-again"),
    path("imports/sources/<str:uid>/compare/", imports.compare, name="import-compare"),
    path("imports/sources/<str:uid>/remove/", imports.remove, name="import-remove"),
    path("publish/", publish.page, name="publish"),
    path("publish/new/", start.page, name="publish-new"),
    path("held/", findings.held, name="held"),
    path("runs/", runs.everyone, name="runs"),
    path("runs/<str:uid>/", run.page, name="run"),
    path("runs/<str:uid>/live/", run.live, name="run-live"),
    path("runs/<str:uid>/log/", run.log, name="run-log"),
    path("runs/<str:uid>/cancel/", run.stop, name="run-cancel"),
    path("runs/<str:uid>/erase/", run.erase, name="run-erase"),
    path("runs/<str:uid>/again/", run.again, name="run-again"),
    path("runs/<str:uid>/artifacts/<path:path>", run.artifact, name="artifact"),
    # Before this line: words that stand in a version's place.
    path(_VERSION, skill.version, name="version"),
    path(_VERSION + "edit/", edit.page, name="edit"),
    *(
        path(f"{_VERSION}{verb}/", version_changes.change, {"verb": verb}, name=f"version-{verb}")
        for verb in version_changes.VERBS
    ),
    path(_VERSION + "purge/", version_changes.purge, name="version-purge"),
    path(_VERSION + "files/", files.tree, name="files"),
    path(_VERSION + "findings/", findings.page, name="findings"),
    path(_VERSION + "findings/<slug:uid>/suppress/", findings.suppress, name="finding-suppress"),
    path(_VERSION + "findings/<slug:uid>/unsuppress/", findings.unsuppress, name="finding-unsuppress"),
    path(_VERSION + "release/", findings.release, name="version-release"),
    path(_VERSION + "files/<path:path>", files.file, name="file"),
    path(_VERSION + "raw/<path:path>", files.raw, name="raw-file"),
    path("api/v1/", include("registry.api.urls")),
    path("api/v1/", include("worker.api.urls")),
    path("hooks/<str:uid>", Hook.as_view(), name="hook"),
    path("api/schema/", reference.Schema.as_view(), name="api-schema"),
    path("api/docs/", reference.Docs.as_view(), name="api-docs"),
    path("llms.txt", reference.Guide.as_view(), name="llms"),
]

handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.broken
