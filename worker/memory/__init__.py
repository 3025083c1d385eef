"""Memory: proposals by runs, their review, and the store of accepted memories.

run's end ─► propose ─► owners ─┬► store.add                         the caller's own, its run's └► waiting ─►
review ─► store.add    a team's, another owner's
"""
