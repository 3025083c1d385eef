"""What a run gets: the secrets that its version names, of its own team, as far as they are granted to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.addresses import absolute
from registry.models import SecretGrant, Team, Version
from registry.packages.manifest import manifest_of
from registry.packages.problems import Refused, refuse
from registry.secrets import sealing
from registry.secrets.granting import granted_for


@dataclass(frozen=True)
class Given:
    """A secret that a version names: ``grant`` is "" where nobody gave it, ``is_set`` whether it is there."""

    name: str
    is_set: bool
    grant: str
    sealed_at: str = ""  # when its value was set: another value is another call


def given_to(version: Version, team: Team | None) -> tuple[Given, ...]:
    """Every secret that the version names, and how it stands with it in this team."""
    names = manifest_of(version.manifest).security.secrets
    if not names or team is None:
        return tuple(Given(name, False, "") for name in names)
    kept = dict(team.secrets.filter(name__in=names).values_list("name", "set_at"))
    grants = {row.secret.name: row.uid for row in granted_for(version, team)}
    return tuple(
        Given(name, name in kept, grants.get(name, ""), kept[name].isoformat() if name in kept else "")
        for name in names
    )


def missing_of(given: tuple[Given, ...]) -> tuple[str, ...]:
    return tuple(each.name for each in given if not (each.is_set and each.grant))


def require_given(version: Version, team: Team | None) -> dict[str, list[str]]:
    """For the run's row: each secret's grant and when it was set; refused where one is missing."""
    given = given_to(version, team)
    if given and team is None:
        raise refuse("SECRET_WITHOUT_TEAM", version=str(version))
    if unset := [each.name for each in given if not each.is_set]:
        raise _without("SECRET_NOT_SET", unset, version, team)
    if missing := missing_of(given):
        raise _without("SECRET_NOT_GRANTED", missing, version, team)
    return {each.name: [each.grant, each.sealed_at] for each in given}


def _without(code: str, names: Iterable[str], version: Version, team: Team | None) -> Refused:
    return refuse(
        code, names=", ".join(names), version=str(version), team=str(team), page=_page(team, version)
    )


def values_of(granted: Mapping[str, list[str]], *, digest: str) -> dict[str, str]:
    """The values for a run that begins now; what was revoked or withdrawn meanwhile is refused."""
    uids = [uid for uid, _ in granted.values()]
    rows = SecretGrant.objects.filter(uid__in=uids, revoked_at=None).select_related("secret__team")
    found = {row.secret.name: row for row in rows if _reaches(row, digest)}
    for name in granted:
        if name not in found:
            raise refuse("SECRET_NOT_GRANTED", names=name, team="-", version=digest[:19], page=_page(None))
    return {
        name: sealing.unseal(row.secret.sealed, team=row.secret.team.uid, name=name)
        for name, row in found.items()
    }


def _reaches(row: SecretGrant, digest: str) -> bool:
    if row.digest:
        return row.digest == digest
    versions = Version.objects.filter(skill=row.skill_id, digest=digest, reviews__team=row.secret.team)
    return versions.exists()


def _page(team: Team | None, version: Version | None = None) -> str:
    about = f"?skill={version.skill}&version={version.number}" if version else ""
    return absolute(f"/teams/{team}/secrets/{about}" if team else "/teams/")
