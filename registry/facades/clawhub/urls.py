from django.urls import path

from registry.facades.clawhub import curation, device_login, publishing, reading, verification
from registry.facades.clawhub.endpoint import UnknownRoute

_API = "clawhub/api/v1"

urlpatterns = [
    path(".well-known/clawhub.json", reading.ClawHubDiscovery.as_view(), name="clawhub-discovery"),
    path(".well-known/clawdhub.json", reading.ClawHubDiscovery.as_view(), name="clawdhub-discovery"),
    path(f"{_API}/whoami", reading.ClawHubWhoami.as_view(), name="clawhub-whoami"),
    path(f"{_API}/search", reading.ClawHubSearch.as_view(), name="clawhub-search"),
    path(f"{_API}/resolve", reading.ClawHubResolve.as_view(), name="clawhub-resolve"),
    path(f"{_API}/download", reading.ClawHubDownload.as_view(), name="clawhub-download"),
    path(f"{_API}/skills", publishing.SkillsAndPublish.as_view(), name="clawhub-skills"),
    path(f"{_API}/skills/-/upload-url", publishing.UploadUrl.as_view(), name="clawhub-upload-url"),
    path("clawhub/upload/<str:ticket>", publishing.FileUpload.as_view(), name="clawhub-upload"),
    path(
        "clawhub/api/cli/telemetry/install", publishing.InstallTelemetry.as_view(), name="clawhub-telemetry"
    ),
    path("api/cli/device/code", device_login.DeviceCode.as_view(), name="clawhub-device-code"),
    path("api/cli/device/token", device_login.DeviceToken.as_view(), name="clawhub-device-token"),
    path(f"{_API}/stars/<str:slug>", curation.Star.as_view(), name="clawhub-star"),
    path(f"{_API}/skills/<str:slug>", curation.SkillAndDelete.as_view(), name="clawhub-skill"),
    path(f"{_API}/skills/<str:slug>/undelete", curation.Undelete.as_view(), name="clawhub-undelete"),
    path(f"{_API}/skills/<str:slug>/report", curation.ReportSkill.as_view(), name="clawhub-report"),
    path(f"{_API}/skills/<str:slug>/versions", reading.ClawHubVersions.as_view(), name="clawhub-versions"),
    path(
        f"{_API}/skills/<str:slug>/versions/<str:number>",
        curation.VersionAndDelete.as_view(),
        name="clawhub-version",
    ),
    path(
        f"{_API}/skills/<str:slug>/versions/<str:number>/restore",
        curation.RestoreVersion.as_view(),
        name="clawhub-restore",
    ),
    path(f"{_API}/skills/<str:slug>/file", reading.ClawHubFileContent.as_view(), name="clawhub-file"),
    path(f"{_API}/skills/<str:slug>/install", reading.ClawHubInstall.as_view(), name="clawhub-install"),
    path(f"{_API}/skills/<str:slug>/verify", verification.Verify.as_view(), name="clawhub-verify"),
    path(f"{_API}/skills/<str:slug>/tags/<str:tag>", publishing.ClawHubTag.as_view(), name="clawhub-tag"),
    path("clawhub/<path:path>", UnknownRoute.as_view(), name="clawhub-unknown"),
]
