"""The tables whose changes raise change numbers, and the reasons why other tables and columns do not.

A stored answer is valid until a number that it depends on is raised. A column raises the numbers of its table
unless the column or the table is listed as ignored here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from registry.models import ChangeKind


@dataclass(frozen=True)
class Raise:
    """A rule of a trigger. Raises the numbers of objects of ``kind``, whose keys the query ``SELECT key
    source`` returns; ``{row}`` stands for the changed row.

    With ``columns``, an update raises the numbers only if one of these columns changes.
    """

    kind: ChangeKind
    key: str
    source: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class WatchedTable:
    raises: tuple[Raise, ...]
    ignored: Mapping[str, str] = field(default_factory=dict)  # reason by column


def skill(column: str = "skill_id") -> Raise:
    return Raise(ChangeKind.SKILL, f"{{row}}.{column}")


def team(column: str = "team_id", *, columns: tuple[str, ...] = ()) -> Raise:
    return Raise(ChangeKind.TEAM, f"{{row}}.{column}", columns=columns)


def user(column: str = "user_id") -> Raise:
    return Raise(ChangeKind.USER, f"{{row}}.{column}")


def common(*columns: str) -> Raise:
    return Raise(ChangeKind.COMMON, "0", columns=columns)


def skill_of_version(column: str = "version_id") -> Raise:
    return Raise(
        ChangeKind.SKILL,
        "version.skill_id",
        f"FROM registry_version version WHERE version.id = {{row}}.{column}",
    )


_USE_COUNT = "A use must not end kept answers."
_NOT_KEPT = "Only answers that are never kept show it."
_INDEX = "Only search and match read it, whose answers are never kept."
_WITH_VERSION = "Written and deleted only together with its version."
_WITH_SKILL = "Written only when a counted column of a skill changes."
_LAST_USE = "Noting a use must not end kept answers."

WATCHED: dict[str, WatchedTable] = {
    "registry_team": WatchedTable((team("id"), common("slug"))),
    "registry_skill": WatchedTable(
        (skill("id"), team(columns=("slug", "team_id"))),
        dict.fromkeys(("usage_count", "last_used_at", "hot_key"), _USE_COUNT),
    ),
    "registry_version": WatchedTable((skill(),)),
    "registry_channel": WatchedTable((skill(),)),
    "registry_canonical": WatchedTable((skill(), common())),
    "registry_redirect": WatchedTable((skill("to_id"), team())),
    "registry_tombstone": WatchedTable((skill(),)),
    "registry_tag": WatchedTable((skill(),)),
    "registry_entrycommandline": WatchedTable((skill_of_version(),)),
    "registry_entryneeds": WatchedTable((skill_of_version(),)),
    "registry_finding": WatchedTable((skill_of_version(),)),
    "registry_suppression": WatchedTable((skill(),)),
    "registry_report": WatchedTable((skill_of_version(),)),
    "registry_versionreview": WatchedTable((skill_of_version(),)),
    "registry_secretgrant": WatchedTable((skill(),)),
    "registry_secret": WatchedTable((team(),)),
    "registry_rule": WatchedTable((team(),)),
    "registry_subscription": WatchedTable((team(), team("publisher_id"))),
    "registry_source": WatchedTable(
        (team(),), {"next_at": "The time of the next import is shown by no kept answer."}
    ),
    "registry_triggertest": WatchedTable((skill(),)),
    "registry_proposedtriggertest": WatchedTable((skill(),)),
    "registry_skillphrase": WatchedTable((skill(),)),
    "registry_glossaryentry": WatchedTable((common(),)),
    "registry_membership": WatchedTable((user(), team())),
    "registry_pinnedskill": WatchedTable((user(), skill())),
    "registry_collection": WatchedTable((team(),)),
    "registry_collectionitem": WatchedTable(
        (
            Raise(
                ChangeKind.TEAM,
                "listed.team_id",
                "FROM registry_collection listed WHERE listed.id = {row}.collection_id",
            ),
        )
    ),
    "registry_token": WatchedTable(
        (user("owner_id"),), dict.fromkeys(("last_used_at", "last_used_address"), _LAST_USE)
    ),
    "registry_usersession": WatchedTable((user(),)),
    "registry_user": WatchedTable((user("id"), common("username", "erased_at")), {"last_login": _LAST_USE}),
    "mfa_authenticator": WatchedTable((user(),), {"last_used_at": _LAST_USE}),
}

UNWATCHED: dict[str, str] = {
    "registry_use": _USE_COUNT,
    "registry_useday": _USE_COUNT,
    "registry_activationday": _USE_COUNT,
    "registry_canonicaluse": _USE_COUNT,
    "registry_file": _WITH_VERSION,
    "registry_triggertestresult": _WITH_VERSION,
    "registry_canonicalchange": "Written only together with its canonical name.",
    "registry_collectionstate": "Written only when it is read, after other changes.",
    "registry_term": _INDEX,
    "registry_termscope": _INDEX,
    "registry_posting": _INDEX,
    "registry_misspelling": _INDEX,
    "registry_trigger": _INDEX,
    "registry_pinnedposting": _INDEX,
    "registry_pinnedtrigger": _INDEX,
    "registry_facetcount": _WITH_SKILL,
    "registry_countedskill": _WITH_SKILL,
    "registry_sitenumber": "It holds the numbers.",
    "registry_changenumber": "It holds the numbers.",
    "registry_pendingchange": "It holds the numbers.",
    "registry_user_groups": "Django's groups and permissions decide nothing here.",
    "registry_user_user_permissions": "Django's groups and permissions decide nothing here.",
} | dict.fromkeys(
    (
        "registry_builtfile",
        "registry_auditentry",
        "registry_auditchain",
        "registry_unknownactivation",
        "registry_devicelogin",
        "registry_import",
        "registry_importrow",
        "registry_event",
        "registry_eventmatch",
        "registry_eventsubscription",
        "registry_webhookendpoint",
        "registry_failedsignins",
        "registry_feedback",
        "registry_formermembership",
        "registry_idempotencykey",
        "registry_invitation",
        "registry_ratecount",
        "registry_resumableupload",
        "registry_uploadchunk",
        "registry_sitekey",
    ),
    _NOT_KEPT,
)


def watch(tables: Mapping[str, WatchedTable], unwatched: Mapping[str, str]) -> None:
    """Adds the tables of another app. Called from the app's ``ready``."""
    WATCHED.update(tables)
    UNWATCHED.update(unwatched)
