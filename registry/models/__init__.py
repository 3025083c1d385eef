from registry.models.audit import AuditEntry
from registry.models.file import File
from registry.models.idempotency import IdempotencyKey
from registry.models.membership import Membership
from registry.models.posting import Posting, Term, TermScope
from registry.models.skill import INTERNAL, Skill, Tag, Visibility
from registry.models.team import Role, Team
from registry.models.token import Scope, Token
from registry.models.usage import Use, UseKind
from registry.models.user import User
from registry.models.version import Version

__all__ = [
    "INTERNAL",
    "AuditEntry",
    "File",
    "IdempotencyKey",
    "Membership",
    "Posting",
    "Role",
    "Scope",
    "Skill",
    "Tag",
    "Team",
    "Term",
    "TermScope",
    "Token",
    "Use",
    "UseKind",
    "User",
    "Version",
    "Visibility",
]
