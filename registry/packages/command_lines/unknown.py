class Unknown:
    """Placeholder for a value that is known only when the script runs."""

    def __repr__(self) -> str:
        return "…"


UNKNOWN = Unknown()
