"""Finds the secrets of a run: those that its version declares and its team has granted."""

from collections.abc import Mapping
from dataclasses import dataclass

from registry.additions.additions import Additions, additions_from_document, effective_manifest
from registry.core.addresses import absolute_url
from registry.core.sql import Reads, gather, reader, reads_of
from registry.models import SecretGrant, Team, Version, VersionReview
from registry.secrets import encryption
from registry.secrets.errors import SECRET_NOT_GRANTED, SECRET_NOT_SET, SECRET_WITHOUT_TEAM
from registry.secrets.grants import grants_for_version

_NO_ADDITIONS = Additions()


@dataclass(frozen=True)
class SecretStatus:
    """A secret that a version declares: whether the team has set it, and the uid of its grant ("" if not
    granted).
    """

    name: str
    is_set: bool
    grant: str
    sealed_at: str = ""  # time when the value was set; part of the cache key


@reader
def secret_statuses(version: Version, team: Team | None) -> Reads[tuple[SecretStatus, ...]]:
    """The status of every secret that the version declares, in declared order. Without a team, no secret is
    set or granted.
    """
    names = effective_manifest(version).security.secrets
    if not names or team is None:
        return tuple(SecretStatus(name, False, "") for name in names)
    rows = team.secrets.filter(name__in=names).values_list("name", "set_at")
    _, granted = yield from gather(reads_of(rows), grants_for_version.reads(version, team))
    set_at, grants = dict(rows), {row.secret.name: row.uid for row in granted}
    return tuple(
        SecretStatus(
            name, name in set_at, grants.get(name, ""), set_at[name].isoformat() if name in set_at else ""
        )
        for name in names
    )


def missing_secrets(statuses: tuple[SecretStatus, ...]) -> tuple[str, ...]:
    return tuple(each.name for each in statuses if not (each.is_set and each.grant))


def require_secrets(
    version: Version, team: Team | None, statuses: tuple[SecretStatus, ...]
) -> dict[str, list[str]]:
    """The grant's uid and the set time (ISO 8601) of each declared secret, by name, to store with the run.
    ``statuses`` is the result of ``secret_statuses``.

    If the version declares secrets, raises SECRET_WITHOUT_TEAM without a team, SECRET_NOT_SET if one is not
    set, and SECRET_NOT_GRANTED if one is not granted.
    """
    if statuses and team is None:
        raise SECRET_WITHOUT_TEAM.refusal(version=str(version))
    if unset := [each.name for each in statuses if not each.is_set]:
        raise SECRET_NOT_SET.refusal(
            names=tuple(unset), version=str(version), team=str(team), page=_secrets_page(team, version)
        )
    if missing := missing_secrets(statuses):
        raise SECRET_NOT_GRANTED.refusal(
            names=tuple(missing), version=str(version), team=str(team), page=_secrets_page(team, version)
        )
    return {each.name: [each.grant, each.sealed_at] for each in statuses}


def secret_values(
    granted: Mapping[str, list[str]], *, digest: str, additions: Additions = _NO_ADDITIONS
) -> dict[str, str]:
    """The decrypted values by name, for a run with ``additions`` that starts now. ``granted`` is the result
    of ``require_secrets``.

    Raises SECRET_NOT_GRANTED if a grant was revoked or does not apply to this digest and these additions, and
    SECRET_SEALED if a value can't be decrypted.
    """
    uids = [uid for uid, _ in granted.values()]
    rows = SecretGrant.objects.filter(uid__in=uids, revoked_at=None).select_related("secret__team")
    found = {row.secret.name: row for row in rows if _applies_to(row, digest, additions)}
    for name in granted:
        if name not in found:
            raise SECRET_NOT_GRANTED.refusal(
                names=name, team="-", version=digest[:19], page=_secrets_page(None)
            )
    return {
        name: encryption.unseal(row.secret.sealed, team=row.secret.team.uid, name=name)
        for name, row in found.items()
    }


def _applies_to(row: SecretGrant, digest: str, additions: Additions) -> bool:
    if row.digest:
        return row.digest == digest and additions.is_covered_by(additions_from_document(row.additions))
    reviews = VersionReview.objects.filter(team=row.secret.team)
    reviews = reviews.filter(version__skill=row.skill_id, version__digest=digest)
    return any(additions.is_covered_by(additions_from_document(each.additions)) for each in reviews)


def _secrets_page(team: Team | None, version: Version | None = None) -> str:
    about = f"?skill={version.skill}&version={version.number}" if version else ""
    return absolute_url(f"/teams/{team}/secrets/{about}" if team else "/teams/")
