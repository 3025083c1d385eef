from datetime import date

from django.db import connection

from registry.core.sql import execute

_ADD_CPU = "UPDATE worker_teamdailyusage SET cpu_ms = cpu_ms + %s WHERE team_id = %s AND day = %s"


def add_cpu_time(team_id: int, day: date, milliseconds: int) -> bool:
    """Adds milliseconds to the team's CPU time of the day; returns False if the day has no row yet.

    Bypasses the ORM, because the transaction that ends an attempt limits the queue's throughput.
    """
    return bool(execute(_ADD_CPU, (milliseconds, team_id, connection.ops.adapt_datefield_value(day))))
