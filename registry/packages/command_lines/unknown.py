"""The value of everything that is known only when a script runs."""


class Unknown:
    """A value that is known only when the script runs."""

    def __repr__(self) -> str:
        return "…"


UNKNOWN = Unknown()
