from registry.models.activation import ActivationDay, ActivationTrigger, UnknownActivation
from registry.models.audit import AuditChain, AuditEntry, Capacity
from registry.models.built_file import BuiltFile
from registry.models.canonical import (
    Canonical,
    CanonicalChange,
    CanonicalChangeKind,
    CanonicalUse,
    PinnedPosting,
    PinnedTrigger,
)
from registry.models.change import ChangeKind, ChangeNumber, PendingChange, SiteNumber
from registry.models.channel import Channel, Redirect, Tombstone
from registry.models.collection import Collection, CollectionItem, CollectionState
from registry.models.command_line import CommandLineOrigin, EntryCommandLine
from registry.models.device_login import DeviceLogin, DeviceLoginState
from registry.models.entry_needs import EntryNeeds
from registry.models.event import Event, EventMatch, EventMode, EventOutcome, EventSubscription
from registry.models.facet_count import CountedSkill, FacetCount
from registry.models.failed_sign_ins import FailedSignIns
from registry.models.feedback import Feedback, FeedbackOutcome
from registry.models.file import File
from registry.models.finding import Finding, Suppression
from registry.models.glossary import GlossaryEntry
from registry.models.idempotency import IdempotencyKey
from registry.models.invitation import Invitation
from registry.models.membership import FormerMembership, Membership
from registry.models.phrase import SkillPhrase
from registry.models.pin import PinnedSkill
from registry.models.posting import Misspelling, Posting, Term, TermScope, Trigger, TriggerKind
from registry.models.rate_count import RateCount
from registry.models.report import Report, ReportReason, ReportState
from registry.models.rule import Effect, Rule
from registry.models.secret import Secret, SecretGrant, VersionReview
from registry.models.session import UserSession
from registry.models.site_key import SiteKey
from registry.models.skill import INTERNAL, Skill, Tag, Visibility
from registry.models.source import Import, ImportOutcome, ImportRow, ImportStatus, Source, SourceKind
from registry.models.subscription import Subscription
from registry.models.team import MemoryReview, Role, RunReaders, Team
from registry.models.token import Scope, Token
from registry.models.trigger_test import ProposalState, ProposedTriggerTest, TriggerTest, TriggerTestOrigin
from registry.models.trigger_test_result import TriggerTestResult
from registry.models.upload import ResumableUpload, UploadChunk
from registry.models.usage import Use, UseDay, UseKind
from registry.models.user import User, UserKind
from registry.models.version import Version
from registry.models.webhook import WebhookEndpoint
