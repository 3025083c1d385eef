from django.urls import path

from registry.api.canonical import (
    CanonicalAccept,
    CanonicalDetail,
    CanonicalHistory,
    CanonicalMirror,
    CanonicalProposal,
    CanonicalReject,
    Canonicals,
    CanonicalText,
    NamedSkill,
)
from registry.api.comparing import CompareVersions
from registry.api.editing import Edits
from registry.api.events import (
    EventDetail,
    Events,
    EventStarts,
    EventSubscriptionDetail,
    EventSubscriptions,
)
from registry.api.feedback import (
    FeedbackDecision,
    FeedbackReports,
    SkillFeedback,
    TriggerTestDetail,
    TriggerTests,
)
from registry.api.finding import Changes, Search
from registry.api.findings import Findings, Held, Release, Suppressions
from registry.api.glossary import Glossary, GlossaryDetail, GlossaryFile, GlossaryUndo
from registry.api.imports import ImportDetail, Imports, SourceDetail, SourceDrift, SourceImports, Sources
from registry.api.listing import AgentSkill, AgentSkills, Listings
from registry.api.matching import Matching
from registry.api.migrations import Migrations
from registry.api.moving import ChannelDetail, Channels, Merge, Rename
from registry.api.packages import Packages
from registry.api.people import MyErasure, MyExport
from registry.api.phrases import PhraseDetail, PhraseProposals, Phrases
from registry.api.profiles import VersionProfiles
from registry.api.reports import OpenReports, ReportDecision, VersionReports
from registry.api.rules import PermissionDecision, Restoration, RuleDetail, TeamRules, TokenRules
from registry.api.secrets import (
    SecretDetail,
    SecretGrantDetail,
    SecretGrants,
    Secrets,
    VersionReviewed,
    VersionSecrets,
)
from registry.api.site import CodeDetail, Codes, Me
from registry.api.skills import SkillDetail, Skills, SkillUsage, Uses
from registry.api.starting import KindArchive, Kinds
from registry.api.subscriptions import Bundling, SubscriptionDetail, Subscriptions
from registry.api.triggers import TeamSettings, TriggerCollisions, TriggerTrials, VersionTriggerTests
from registry.api.versions import Archive, FileContent, Files, VersionDetail, Versions
from registry.api.webhooks import WebhookDetail, WebhookRotation, Webhooks
from registry.api.withdrawal import (
    SkillDeprecation,
    SkillPurge,
    VersionDeprecation,
    VersionPurge,
    Yank,
)

_SKILL = "skills/<str:team>/<str:slug>"
_CANONICAL = "canonical/<str:slug>"
_VERSION = f"{_SKILL}/versions/<str:number>"

urlpatterns = [
    path("skills", Skills.as_view(), name="api-skills"),
    path("skills/<str:slug>", NamedSkill.as_view(), name="api-named-skill"),
    path("canonical", Canonicals.as_view(), name="api-canonicals"),
    path(_CANONICAL, CanonicalDetail.as_view(), name="api-canonical"),
    path(f"{_CANONICAL}/mirror", CanonicalMirror.as_view(), name="api-canonical-mirror"),
    path(f"{_CANONICAL}/proposal", CanonicalProposal.as_view(), name="api-canonical-proposal"),
    path(f"{_CANONICAL}/history", CanonicalHistory.as_view(), name="api-canonical-history"),
    path(f"{_CANONICAL}/accept", CanonicalAccept.as_view(), name="api-canonical-accept"),
    path(f"{_CANONICAL}/reject", CanonicalReject.as_view(), name="api-canonical-reject"),
    path(f"{_CANONICAL}/text", CanonicalText.as_view(), name="api-canonical-text"),
    path(_SKILL, SkillDetail.as_view(), name="api-skill"),
    path(f"{_SKILL}/deprecation", SkillDeprecation.as_view(), name="api-skill-deprecation"),
    path(f"{_SKILL}/channels", Channels.as_view(), name="api-channels"),
    path(f"{_SKILL}/channels/<str:name>", ChannelDetail.as_view(), name="api-channel"),
    path(f"{_SKILL}/rename", Rename.as_view(), name="api-rename"),
    path(f"{_SKILL}/merge", Merge.as_view(), name="api-merge"),
    path(f"{_SKILL}/purge", SkillPurge.as_view(), name="api-skill-purge"),
    path(f"{_SKILL}/usage", SkillUsage.as_view(), name="api-skill-usage"),
    path(f"{_SKILL}/phrases", Phrases.as_view(), name="api-phrases"),
    path(f"{_SKILL}/phrases/propose", PhraseProposals.as_view(), name="api-phrase-proposals"),
    path(f"{_SKILL}/phrases/<str:uid>", PhraseDetail.as_view(), name="api-phrase"),
    path(f"{_SKILL}/versions", Versions.as_view(), name="api-versions"),
    path(f"{_SKILL}/compare/<str:before>..<str:after>", CompareVersions.as_view(), name="api-compare"),
    path(_VERSION, VersionDetail.as_view(), name="api-version"),
    path(f"{_VERSION}/trigger-tests", VersionTriggerTests.as_view(), name="api-version-trigger-tests"),
    path(f"{_VERSION}/yank", Yank.as_view(), name="api-yank"),
    path(f"{_VERSION}/deprecation", VersionDeprecation.as_view(), name="api-version-deprecation"),
    path(f"{_VERSION}/purge", VersionPurge.as_view(), name="api-version-purge"),
    path(f"{_VERSION}/profiles", VersionProfiles.as_view(), name="api-version-profiles"),
    path(f"{_VERSION}/files", Files.as_view(), name="api-files"),
    path(f"{_VERSION}/files/<path:path>", FileContent.as_view(), name="api-file"),
    path(f"{_VERSION}/archive", Archive.as_view(), name="api-archive"),
    path(f"{_VERSION}/secrets", VersionSecrets.as_view(), name="api-version-secrets"),
    path(f"{_VERSION}/review", VersionReviewed.as_view(), name="api-version-review"),
    path(f"{_VERSION}/findings", Findings.as_view(), name="api-findings"),
    path(f"{_VERSION}/findings/<str:uid>/suppression", Suppressions.as_view(), name="api-suppression"),
    path(f"{_VERSION}/release", Release.as_view(), name="api-release"),
    path("held", Held.as_view(), name="api-held"),
    path(f"{_SKILL}/feedback", SkillFeedback.as_view(), name="api-skill-feedback"),
    path(f"{_SKILL}/feedback/<str:uid>", FeedbackDecision.as_view(), name="api-feedback-decision"),
    path(f"{_SKILL}/trigger-tests", TriggerTests.as_view(), name="api-trigger-tests"),
    path(f"{_SKILL}/trigger-trials", TriggerTrials.as_view(), name="api-trigger-trials"),
    path(f"{_SKILL}/trigger-tests/<str:uid>", TriggerTestDetail.as_view(), name="api-trigger-test"),
    path("reports", OpenReports.as_view(), name="api-reports"),
    path(f"{_VERSION}/reports", VersionReports.as_view(), name="api-version-reports"),
    path(f"{_VERSION}/reports/<str:uid>", ReportDecision.as_view(), name="api-report"),
    path("feedback", FeedbackReports.as_view(), name="api-feedback"),
    path("events", Events.as_view(), name="api-events"),
    path("events/<str:uid>", EventDetail.as_view(), name="api-event"),
    path("events/<str:uid>/start", EventStarts.as_view(), name="api-event-start"),
    path("event-subscriptions", EventSubscriptions.as_view(), name="api-event-subscriptions"),
    path("event-subscriptions/<str:uid>", EventSubscriptionDetail.as_view(), name="api-event-subscription"),
    path("webhooks", Webhooks.as_view(), name="api-webhooks"),
    path("webhooks/<str:uid>", WebhookDetail.as_view(), name="api-webhook"),
    path("webhooks/<str:uid>/rotate", WebhookRotation.as_view(), name="api-webhook-rotate"),
    path("imports", Imports.as_view(), name="api-imports"),
    path("imports/<str:uid>", ImportDetail.as_view(), name="api-import"),
    path("sources", Sources.as_view(), name="api-sources"),
    path("sources/<str:uid>", SourceDetail.as_view(), name="api-source"),
    path("sources/<str:uid>/drift", SourceDrift.as_view(), name="api-source-drift"),
    path("sources/<str:uid>/imports", SourceImports.as_view(), name="api-source-imports"),
    path(f"{_VERSION}/edits", Edits.as_view(), name="api-edits"),
    path("packages", Packages.as_view(), name="api-packages"),
    path("packages/migrate", Migrations.as_view(), name="api-migrate"),
    path("kinds", Kinds.as_view(), name="api-kinds"),
    path("kinds/archive", KindArchive.as_view(), name="api-kind-archive"),
    path("search", Search.as_view(), name="api-search"),
    path("collisions", TriggerCollisions.as_view(), name="api-collisions"),
    path("teams/<str:team>/settings", TeamSettings.as_view(), name="api-team-settings"),
    path("listing", Listings.as_view(), name="api-listing"),
    path("agent/skills", AgentSkills.as_view(), name="api-agent-skills"),
    path("agent/skills/load", AgentSkill.as_view(), name="api-agent-skill"),
    path(f"{_SKILL}/bundling", Bundling.as_view(), name="api-bundling"),
    path("teams/<str:team>/subscriptions", Subscriptions.as_view(), name="api-subscriptions"),
    path("teams/<str:team>/subscriptions/<str:name>", SubscriptionDetail.as_view(), name="api-subscription"),
    path("match", Matching.as_view(), name="api-match"),
    path("glossary", Glossary.as_view(), name="api-glossary"),
    path("glossary/built-in", GlossaryFile.as_view(), name="api-glossary-file"),
    path("glossary/changes/<str:uid>/undo", GlossaryUndo.as_view(), name="api-glossary-undo"),
    path("glossary/<str:uid>", GlossaryDetail.as_view(), name="api-glossary-line"),
    path("changes", Changes.as_view(), name="api-changes"),
    path("usage", Uses.as_view(), name="api-usage"),
    path("me/export", MyExport.as_view(), name="api-my-export"),
    path("me/erase", MyErasure.as_view(), name="api-my-erasure"),
    path("permissions/decision", PermissionDecision.as_view(), name="api-decision"),
    path("teams/<str:team>/secrets", Secrets.as_view(), name="api-secrets"),
    path("teams/<str:team>/secrets/<str:name>", SecretDetail.as_view(), name="api-secret"),
    path("teams/<str:team>/secrets/<str:name>/grants", SecretGrants.as_view(), name="api-secret-grants"),
    path("teams/<str:team>/secret-grants/<str:uid>", SecretGrantDetail.as_view(), name="api-secret-grant"),
    path("teams/<str:team>/rules", TeamRules.as_view(), name="api-team-rules"),
    path("me/tokens/<str:uid>/rules", TokenRules.as_view(), name="api-token-rules"),
    path("rules/<str:uid>", RuleDetail.as_view(), name="api-rule"),
    path("rules/<str:uid>/restoration", Restoration.as_view(), name="api-rule-restoration"),
    path("me", Me.as_view(), name="api-me"),
    path("errors", Codes.as_view(), name="api-codes"),
    path("errors/<str:code>", CodeDetail.as_view(), name="api-code"),
]
