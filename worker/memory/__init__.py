"""Memory: proposals of runs, their review, and the store of accepted ones.

run's end ─► propose ─► owners ─┬► store.add                         the caller's own, its run's
                                └► waiting ─► review ─► store.add    a team's, another owner's
"""
