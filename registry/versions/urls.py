from django.urls import path

from registry.versions.api.additions import VersionAdditions
from registry.versions.api.channels import ChannelDetail, Channels, Merge, Rename
from registry.versions.api.compare import CompareVersions
from registry.versions.api.edit import VersionEdits
from registry.versions.api.migrate import Migrations
from registry.versions.api.new_skill import SkillTemplateArchive, SkillTemplates
from registry.versions.api.profiles import VersionProfiles
from registry.versions.api.publish import Packages
from registry.versions.api.skills import SkillDetail, Skills, SkillUsage, Uses
from registry.versions.api.versions import Archive, FileContent, Files, VersionDetail, Versions
from registry.versions.api.yank import SkillDeprecation, SkillPurge, VersionDeprecation, VersionPurge, Yank

urlpatterns = [
    path("skills", Skills.as_view(), name="api-skills"),
    path("skills/<str:team>/<str:slug>", SkillDetail.as_view(), name="api-skill"),
    path("packages", Packages.as_view(), name="api-packages"),
    path("packages/migrate", Migrations.as_view(), name="api-migrate"),
    path("templates", SkillTemplates.as_view(), name="api-templates"),
    path("templates/archive", SkillTemplateArchive.as_view(), name="api-template-archive"),
    path("usage", Uses.as_view(), name="api-usage"),
]

skill_urlpatterns = [
    path("deprecation", SkillDeprecation.as_view(), name="api-skill-deprecation"),
    path("channels", Channels.as_view(), name="api-channels"),
    path("channels/<str:name>", ChannelDetail.as_view(), name="api-channel"),
    path("rename", Rename.as_view(), name="api-rename"),
    path("merge", Merge.as_view(), name="api-merge"),
    path("purge", SkillPurge.as_view(), name="api-skill-purge"),
    path("usage", SkillUsage.as_view(), name="api-skill-usage"),
    path("versions", Versions.as_view(), name="api-versions"),
    path("compare/<str:before>..<str:after>", CompareVersions.as_view(), name="api-compare"),
    path("versions/<str:number>", VersionDetail.as_view(), name="api-version"),
]

version_urlpatterns = [
    path("additions", VersionAdditions.as_view(), name="api-version-additions"),
    path("yank", Yank.as_view(), name="api-yank"),
    path("deprecation", VersionDeprecation.as_view(), name="api-version-deprecation"),
    path("purge", VersionPurge.as_view(), name="api-version-purge"),
    path("profiles", VersionProfiles.as_view(), name="api-version-profiles"),
    path("files", Files.as_view(), name="api-files"),
    path("files/<path:path>", FileContent.as_view(), name="api-file"),
    path("archive", Archive.as_view(), name="api-archive"),
    path("edits", VersionEdits.as_view(), name="api-edits"),
]
