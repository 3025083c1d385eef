"""Counts the facets of all skills in the search index."""

from collections import defaultdict

from django.db import migrations

_EVERY_SCOPE, _ALL_TEAMS = "*", 0
_AT_ONCE = 1000
_COLUMNS = ("type", "category", "domain", "source", "profile")
_RUN = 32  # registry.index.abilities.Ability.RUN


def count_facets(apps, schema_editor):
    counted = apps.get_model("registry", "CountedSkill")
    counts = defaultdict(lambda: [0, 0])
    chinese = _chinese_skills(apps)
    slugs = dict(apps.get_model("registry", "Team").objects.values_list("pk", "slug"))
    skills = apps.get_model("registry", "Skill").objects.exclude(search_scope="").order_by("pk")
    last = 0
    while rows := list(skills.filter(pk__gt=last).defer("description", "when_to_use", "paths")[:_AT_ONCE]):
        last = rows[-1].pk
        new = []
        for skill in rows:
            facets = _facets(skill, slugs, chinese)
            for key in _keys(skill, facets):
                counts[key][0] += 1
                counts[key][1] += skill.for_people
            new.append(
                counted(
                    skill_id=skill.pk, team_key=skill.team_id, scope=skill.search_scope,
                    for_people=skill.for_people, facets=facets,
                )
            )  # fmt: skip
        counted.objects.bulk_create(new)
    model = apps.get_model("registry", "FacetCount")
    names = ("facet", "team_key", "scope", "value", "skills", "for_people")
    rows = [model(**dict(zip(names, (*key, *both), strict=True))) for key, both in counts.items()]
    model.objects.bulk_create(rows, batch_size=_AT_ONCE)


def _chinese_skills(apps):
    posting = apps.get_model("registry", "Posting")
    return set(posting.objects.filter(term__text=" cjk").values_list("skill_id", flat=True))


def _facets(skill, slugs, chinese):
    pairs = [[name, getattr(skill, name)] for name in _COLUMNS]
    pairs += [["tag", tag] for tag in dict.fromkeys(tag[:120] for tag in skill.tags)]
    language = "zh" if skill.pk in chinese else "en"
    pairs += [["team", slugs[skill.team_id]], ["kind", _kind(skill)], ["language", language]]
    return [pair for pair in pairs if pair[1]]


def _kind(skill):
    if skill.type == "static":
        return "reference"
    if skill.abilities & _RUN:
        return "tools" if skill.type == "service" else "script"
    return "prompt"


def _keys(skill, facets):
    for facet, value in facets:
        yield facet, _ALL_TEAMS, skill.search_scope, value
        yield facet, _ALL_TEAMS, _EVERY_SCOPE, value
        if facet != "team":
            yield facet, skill.team_id, skill.search_scope, value


class Migration(migrations.Migration):
    dependencies = [("registry", "0031_facet_counts")]

    operations = [migrations.RunPython(count_facets, migrations.RunPython.noop)]
