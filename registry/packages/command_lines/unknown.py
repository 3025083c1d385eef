"""The placeholder for values that are known only when a script runs."""


class Unknown:
    """Placeholder for a value that is known only when the script runs."""

    def __repr__(self) -> str:
        return "…"


UNKNOWN = Unknown()
