"""SQL that selects the last runs of several skills or schedules, which the ORM can't do with one query."""

from collections.abc import Sequence

from django.db.models.expressions import RawSQL

from registry.core.sql import fetch_all


def last_run_ids(skills: Sequence[int], number: int) -> RawSQL:
    """A subquery of the ids of the last ``number`` runs of each of at least one skill, read from the index
    ``run_skill``. Runs of test cases do not count.
    """
    ids = "SELECT id FROM worker_run WHERE skill_id = %s AND case_name = '' ORDER BY id DESC LIMIT %s"
    return RawSQL(*_of_each(ids, skills, number))


def last_firing_ids(schedules: Sequence[int], number: int) -> list[int]:
    """The ids of the last ``number`` firings of each schedule, read from the index ``firing_schedule``."""
    ids = "SELECT id FROM worker_schedulefiring WHERE schedule_id = %s ORDER BY due DESC LIMIT %s"
    return [row[0] for row in fetch_all(*_of_each(ids, schedules, number))] if schedules else []


def _of_each(query: str, keys: Sequence[int], number: int) -> tuple[str, list[int]]:
    """The statement and values that select the union of the query's rows for each key."""
    one = f"SELECT * FROM ({query}) AS ids"
    return " UNION ALL ".join([one] * len(keys)), [value for key in keys for value in (key, number)]
