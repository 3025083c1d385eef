"""Presents audit entries as sentences, such as "Mei published acme/report 1.2.0"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from portal.presenters.content.punctuation import labelled, listed
from registry.core.sql import Reads, gather, reader
from registry.identity.actors import Actor
from registry.models import AuditEntry, Skill, WebhookEndpoint
from worker.models import Run, RunBatch, Schedule

_MAX_DETAILS = 6  # number of details per row
# The actions that the home page shows.
HOME_SENTENCES: dict[str, str | Promise] = {
    "version.publish": _("%(user)s published %(target)s"),
    "version.yank": _("%(user)s yanked %(target)s"),
    "version.unyank": _("%(user)s undid the yank of %(target)s"),
    "version.hold": _("%(target)s was held for review"),
    "version.review": _("%(user)s reviewed %(target)s"),
    "version.purge": _("%(user)s purged %(target)s"),
    "skill.deprecate": _("%(user)s deprecated %(target)s"),
    "skill.undeprecate": _("%(user)s ended the deprecation of %(target)s"),
    "skill.rename": _("%(user)s renamed %(target)s"),
    "skill.merge": _("%(user)s merged %(target)s into another skill"),
    "skill.visibility": _("%(user)s changed the visibility of %(target)s"),
    "channel.set": _("%(user)s pointed a channel to %(target)s"),
    "channel.remove": _("%(user)s removed a channel of %(target)s"),
    "team.create": _("%(user)s created the team %(target)s"),
    "team.rename": _("%(user)s renamed the team %(target)s"),
    "team.settings": _("%(user)s changed settings of %(target)s"),
    "team.limits": _("%(user)s changed the limits of %(target)s"),
    "user.join": _("%(target)s joined the team"),
    "member.add": _("%(user)s added %(target)s to the team"),
    "member.remove": _("%(user)s removed %(target)s from the team"),
    "member.leave": _("%(user)s left the team"),
    "member.rejoin": _("%(user)s rejoined the team"),
    "team.archive": _("%(user)s archived the team %(target)s"),
    "team.unarchive": _("%(user)s unarchived the team %(target)s"),
    "member.role": _("%(user)s changed the role of %(target)s"),
    "rule.add": _("%(user)s added the rule “%(target)s”"),
    "rule.remove": _("%(user)s removed the rule “%(target)s”"),
    "secret.set": _("%(user)s set the secret %(target)s"),
    "secret.grant": _("%(user)s granted the secret %(target)s to a skill"),
    "import.cancel": _("%(user)s cancelled the import from %(target)s"),
    "import.request": _("%(user)s started an import from %(target)s"),
    "source.add": _("%(user)s added the source %(target)s"),
}
SENTENCES: dict[str, str | Promise] = HOME_SENTENCES | {
    "approval.once": _("%(user)s approved %(target)s once"),
    "approval.exact": _("%(user)s approved %(target)s and added a rule"),
    "approval.prefix": _("%(user)s approved %(target)s and added a rule"),
    "approval.denied": _("%(user)s denied %(target)s"),
    "rule.restore": _("%(user)s restored the rule “%(target)s”"),
    "error_group.resolve": _("%(user)s resolved an error group of %(target)s"),
    "error_group.reopen": _("%(user)s reopened an error group of %(target)s"),
    "error_group.assign": _("%(user)s changed the assignee of an error group of %(target)s"),
    "schedule.create": _("%(user)s created the schedule %(target)s"),
    "schedule.edit": _("%(user)s changed the schedule %(target)s"),
    "schedule.pause": _("%(user)s paused the schedule %(target)s"),
    "schedule.resume": _("%(user)s resumed the schedule %(target)s"),
    "schedule.run": _("%(user)s started a run of the schedule %(target)s"),
    "schedule.delete": _("%(user)s deleted the schedule %(target)s"),
    "schedule.restore": _("%(user)s restored the schedule %(target)s"),
    "run_batch.create": _("%(user)s started %(target)s"),
    "run_batch.cancel": _("%(user)s cancelled %(target)s"),
    "run_batch.undo": _("%(user)s undid %(target)s"),
    "run.cancel": _("%(user)s cancelled %(target)s"),
    "run.retention": _("Old runs were removed by the retention policy"),
    "team.retention": _("%(user)s changed the retention policy of %(target)s"),
    "site.retention": _("%(user)s changed the retention policy of the site"),
    "run.erase": _("%(user)s erased the content of %(target)s"),
    "share_link.create": _("%(user)s created a share link to %(target)s"),
    "share_link.revoke": _("%(user)s revoked a share link to %(target)s"),
    "run.pin": _("%(user)s pinned %(target)s"),
    "run.unpin": _("%(user)s unpinned %(target)s"),
    "run.delete_note": _("%(user)s deleted another person's note on %(target)s"),
    "secret.replace": _("%(user)s replaced the secret %(target)s"),
    "secret.revoke": _("%(user)s revoked a skill's access to the secret %(target)s"),
    "secret.remove": _("%(user)s removed the secret %(target)s"),
    "source.remove": _("%(user)s removed the source %(target)s"),
    "subscription.add": _("%(user)s subscribed the team to the skills of %(target)s"),
    "subscription.remove": _("%(user)s ended the team's subscription to the skills of %(target)s"),
    "event.subscribe": _("%(user)s changed whether events start %(target)s"),
    "event.unsubscribe": _("%(user)s stopped events from starting %(target)s"),
    "webhook.create": _("%(user)s created the webhook %(target)s"),
    "webhook.rotate": _("%(user)s rotated the secret of the webhook %(target)s"),
    "webhook.delete": _("%(user)s deleted the webhook %(target)s"),
    "notification.create": _("%(user)s added a notification subscription"),
    "notification.edit": _("%(user)s changed a notification subscription"),
    "notification.delete": _("%(user)s deleted a notification subscription"),
    "memory.delete": _("%(user)s deleted a memory"),
    "memory.delete_all": _("%(user)s deleted all memories of one user or one run"),
    "memory.restore": _("%(user)s restored a memory"),
    "memory.restore_all": _("%(user)s restored memories that they had deleted (number: %(target)s)"),
    "phrase.accept": _("%(user)s accepted a trigger phrase for %(target)s"),
    "phrase.decline": _("%(user)s declined a trigger phrase for %(target)s"),
    "phrases.propose": _("%(user)s proposed trigger phrases for %(target)s"),
    "skill.purge": _("%(user)s purged %(target)s"),
    "token.issue": _("%(user)s created the token %(name)s"),
    "token.approve_device": _("%(user)s approved the login of the client %(name)s"),
    "token.deny_device": _("%(user)s denied the login of the client %(name)s"),
    "token.revoke": _("%(user)s revoked the token %(name)s"),
    "token.rotate": _("%(user)s rotated the token %(name)s"),
    "token.restore": _("%(user)s restored the token %(name)s"),
    "user.create_service": _("%(user)s created the service account %(target)s"),
    "user.change_service": _("%(user)s changed the role of the service account %(target)s"),
    "user.create": _("%(user)s created the user %(target)s"),
    "user.invite": _("%(user)s invited %(target)s"),
    "user.uninvite": _("%(user)s revoked the invitation for %(target)s"),
    "user.deactivate": _("%(user)s deactivated %(target)s"),
    "user.reactivate": _("%(user)s reactivated the user %(target)s"),
    "user.administrator": _("%(user)s changed the administrator rights of %(target)s"),
    "user.end_sessions": _("%(user)s ended sessions of %(target)s"),
    "user.add_second_factor": _("%(user)s added a second factor"),
    "user.remove_second_factor": _("%(user)s removed a second factor"),
    "user.renew_second_factor": _("%(user)s created new recovery codes"),
    "user.reset_second_factors": _("%(user)s removed the second factors of %(target)s"),
    "user.end_lock_out": _("%(user)s ended the lock-out of %(target)s"),
    "user.keep_administrator": _(
        "%(target)s remains an administrator because the site has no other administrator"
    ),
    "user.link": _("%(user)s linked an account at an identity provider"),
    "user.unlink": _("%(user)s unlinked an account at an identity provider"),
    "member.keep": _("%(target)s remains an owner because the team has no other owner"),
    "user.change_password": _("%(user)s changed their password"),
    "user.change_email": _("%(user)s changed their e-mail address"),
    "user.reset_password": _("%(user)s reset the password of %(target)s"),
    "trigger_test.remove": _("%(user)s removed a trigger test of %(target)s"),
    "version.deprecate": _("%(user)s deprecated %(target)s"),
    "version.undeprecate": _("%(user)s ended the deprecation of %(target)s"),
    "version.changelog": _("%(user)s changed the changelog of %(target)s"),
    "version.report": _("%(user)s reported %(target)s"),
    "version.change_additions": _("%(user)s changed the libraries, hosts or secrets added to %(target)s"),
    "version.run_cases": _("%(user)s ran the test cases of %(target)s"),
    "version.choose_runtime": _("%(user)s changed the runtime of %(target)s"),
    "version.cancel_dependencies": _("%(user)s cancelled the dependency builds of %(target)s"),
    "version.build_dependencies": _("%(user)s started the dependency builds of %(target)s"),
    "install_link.create": _("%(user)s created an install link for %(name)s"),
    "collection.create": _("%(user)s created the collection %(target)s"),
    "collection.change": _("%(user)s changed the collection %(target)s"),
    "collection.delete": _("%(user)s deleted the collection %(target)s"),
    "canonical.set": _("%(user)s pinned the canonical name %(target)s to a version"),
    "canonical.mirrored": _("%(user)s added the mirrored canonical skill %(target)s"),
    "canonical.accepted": _("%(user)s accepted a proposed change of the canonical skill %(target)s"),
    "canonical.rejected": _("%(user)s rejected a proposed change of the canonical skill %(target)s"),
    "canonical.unset": _("%(user)s removed the canonical name %(target)s"),
    "finding.suppress": _("%(user)s suppressed a finding in %(target)s"),
    "finding.unsuppress": _("%(user)s ended the suppression of a finding in %(target)s"),
    "glossary.add": _("%(user)s added the glossary entry %(target)s"),
    "glossary.change": _("%(user)s changed the glossary entry %(target)s"),
    "glossary.remove": _("%(user)s removed the glossary entry %(target)s"),
    "memory.accept": _("%(user)s accepted a proposed memory"),
    "memory.decline": _("%(user)s declined a proposed memory"),
    "person.erase": _("%(user)s deleted the account %(target)s"),
    "report.dismissed": _("%(user)s dismissed a report about %(target)s"),
    "report.upheld": _("%(user)s confirmed a report about %(target)s"),
    "sandbox.examine": _("%(user)s started a test of the sandbox"),
    "site.accept_key": _("%(user)s confirmed that the site's secret key was replaced"),
    "skill.bundle": _("%(user)s added %(target)s to the skills that are always listed to agents"),
    "skill.unbundle": _("%(user)s removed %(target)s from the skills that are always listed to agents"),
    "trigger_test.accepted": _("%(user)s accepted a proposed trigger test of %(target)s"),
    "trigger_test.declined": _("%(user)s declined a proposed trigger test of %(target)s"),
    "trigger_tests.try": _("%(user)s ran the trigger tests of %(target)s"),
    "version.free": _("%(target)s is no longer held: a new scan found nothing to review"),
    "version.release": _("%(user)s released %(target)s from review"),
    "version.review.withdraw": _("%(user)s withdrew a review of %(target)s"),
}
_LINK_SENTENCES = {  # sentences about invitations without an e-mail address
    "user.invite": _("%(user)s created an invitation link"),
    "user.uninvite": _("%(user)s revoked an invitation link"),
}
_TEAM_SENTENCES = {
    "memory.delete_all": _("%(user)s deleted everything that skills remembered about the team %(target)s"),
}
# Sentences about memories of the acting user (target "me") or a run ("run:<uid>"). Old entries have the
# target "own" for both.
_OWNER_SENTENCES = {"memory.delete_all": _("%(user)s deleted all memories of %(target)s")}
_ME, _RUN = "me", "run:"
# The kinds of actions whose target is the uid of an object.
_OBJECTS: dict[str, str] = {
    "run": "run",
    "share_link": "run",
    "approval": "run",
    "run_batch": "run-batch",
    "schedule": "schedule",
    "webhook": "webhook",
}
_SKILL = re.compile(r"([a-z0-9-]+)/([a-z0-9-]+)(?:@[^/]+)?\Z")


@dataclass(frozen=True)
class Sentence:
    """A sentence about ``target``, which is a link if ``url`` is not empty."""

    before: str
    target: str
    after: str
    url: str


@dataclass(frozen=True)
class AuditObject:
    """The object of an entry whose target is a uid: its name, and the number of a run or of a batch's runs.

    ``url`` is "" if the reader can't see the object.
    """

    name: str = ""
    number: int = 0
    url: str = ""


@reader
def audit_rows(entries: Iterable[AuditEntry], actor: Actor) -> Reads[list[dict[str, Any]]]:
    """Each entry with its sentence and its first details as pairs of name and value."""
    rows = list(entries)
    names, objects = yield from gather(listed_names.reads(rows), _objects_of(rows, actor))
    return [
        {
            "entry": entry,
            "sentence": sentence_of(entry, names, objects.get(_uid_of(entry))),
            "details": [
                (name, listed(value) if isinstance(value, list) else value)
                for name, value in [*(entry.detail or {}).items()][:_MAX_DETAILS]
            ],
        }
        for entry in rows
    ]


def skill_of(entry: AuditEntry) -> tuple[str, ...]:
    """Team and slug of the skill in the entry's target; () if the target names no skill."""
    found = _SKILL.match(entry.target)
    return found.groups() if found else ()


@reader
def listed_names(entries: Iterable[AuditEntry]) -> Reads[dict[tuple[str, ...], str]]:
    """Display names of the entries' listed skills, by team and slug."""
    slugs = {skill[1] for entry in entries if (skill := skill_of(entry))}
    if not slugs:
        return {}
    skills = Skill.objects.filter(slug__in=slugs, for_people=True, purged_at=None, merged_into=None)
    yield (rows := skills.filter(latest__isnull=False).values_list("team__slug", "slug", "name"))
    return {(team, slug): name for team, slug, name in rows}


def _objects_of(entries: Iterable[AuditEntry], actor: Actor) -> Reads[dict[str, AuditObject]]:
    """The objects of the entries that the actor can see, by uid."""
    uids: dict[str, set[str]] = {kind: set() for kind in _OBJECTS.values()}
    for entry in entries:
        if kind := _kind_of(entry):
            uids[kind].add(_uid_of(entry))
    runs = Run.objects.visible_to(actor).filter(uid__in=uids["run"])
    batches = RunBatch.objects.visible_to(actor).filter(uid__in=uids["run-batch"])
    schedules = Schedule.objects.visible_to(actor).filter(uid__in=uids["schedule"])
    webhooks = WebhookEndpoint.objects.visible_to(actor).filter(uid__in=uids["webhook"])
    yield (
        named_runs := runs.values_list("uid", "skill_label", "number"),
        counted := batches.annotate(runs=Count("items")).values_list("uid", "runs"),
        named_schedules := schedules.values_list("uid", "name"),
        named_webhooks := webhooks.values_list("uid", "name"),
    )
    page = reverse("webhooks")
    return (
        {uid: AuditObject(name, number, reverse("run", args=[uid])) for uid, name, number in named_runs}
        | {uid: AuditObject("", runs, reverse("run-batch", args=[uid])) for uid, runs in counted}
        | {uid: AuditObject(name, 0, reverse("schedule", args=[uid])) for uid, name in named_schedules}
        | {uid: AuditObject(name, 0, page) for uid, name in named_webhooks}
    )


def _kind_of(entry: AuditEntry) -> str:
    if _has_known_owner(entry) and entry.target != _ME:
        return "run"
    return _OBJECTS.get(entry.action.partition(".")[0], "")


def _has_known_owner(entry: AuditEntry) -> bool:
    is_known = entry.target == _ME or entry.target.startswith(_RUN)
    return entry.action in _OWNER_SENTENCES and not entry.team_id and is_known


def _uid_of(entry: AuditEntry) -> str:
    return entry.target.removeprefix(_RUN) if _has_known_owner(entry) else entry.target


def sentence_of(
    entry: AuditEntry, names: Mapping[tuple[str, ...], str], found: AuditObject | None = None
) -> Sentence:
    text, skill, target = text_of(entry, found), skill_of(entry), _target_of(entry, found)
    parts = text.rpartition(target) if target and target in text else (text, "", "")
    url = found.url if found else reverse("skill", args=skill) if skill in names else ""
    return Sentence(*parts, url)


def _target_of(entry: AuditEntry, found: AuditObject | None) -> str:
    """The object of the entry in words; an object that was not found is named as in the entry's detail."""
    kind, detail, person = _kind_of(entry), entry.detail or {}, entry.as_user or entry.user
    if entry.target == _ME and _has_known_owner(entry) and person:
        return person.username
    selected = detail.get("runs", 0) if entry.action == "run_batch.create" else 0
    named = found or AuditObject(detail.get("name") or detail.get("skill") or "", selected)
    if kind == "run-batch" and not named.number:
        return _("the batch action %(uid)s") % {"uid": entry.target}
    if kind == "run-batch":
        text = ngettext("a batch action on %(n)s run", "a batch action on %(n)s runs", named.number)
        return text % {"n": named.number}
    if kind == "run" and named.number:
        return _("run #%(number)s of %(skill)s") % {"number": named.number, "skill": named.name}
    if kind == "run":
        run = _("a run of %(skill)s") if named.name else _("the run %(uid)s")
        return run % {"skill": named.name, "uid": _uid_of(entry)}
    return (kind and named.name) or entry.target


def text_of(entry: AuditEntry, found: AuditObject | None = None) -> str:
    """The entry as plain text; actions without a sentence are named by their code."""
    user = entry.user.username if entry.user else entry.token_name or "–"
    known = SENTENCES.get(entry.action)
    if "@" not in entry.target:
        known = _LINK_SENTENCES.get(entry.action, known)
    if entry.team_id:
        known = _TEAM_SENTENCES.get(entry.action, known)
    if _has_known_owner(entry):
        known = _OWNER_SENTENCES[entry.action]
    if known is None:
        return labelled(user, f"{entry.action} {entry.target}".rstrip())
    detail = entry.detail or {}
    name = detail.get("name") or detail.get("path") or entry.target
    return str(known) % {"user": user, "target": _target_of(entry, found), "name": name}
