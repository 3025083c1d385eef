"""SQL that selects the last runs of several skills, which the ORM can't do with one query."""

from collections.abc import Sequence

from registry.core.sql import fetch_all


def last_run_ids(skills: Sequence[int], number: int) -> list[int]:
    """The ids of the last ``number`` runs of each skill, read from the index ``run_skill``.

    Runs of test cases do not count.
    """
    ids = "SELECT id FROM worker_run WHERE skill_id = %s AND case_name = '' ORDER BY id DESC LIMIT %s"
    one = f"SELECT * FROM ({ids}) AS runs"
    values = [value for skill in skills for value in (skill, number)]
    return [row[0] for row in fetch_all(" UNION ALL ".join([one] * len(skills)), values)] if skills else []
