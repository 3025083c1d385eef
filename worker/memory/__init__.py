"""What runs propose to remember, who looks at it, and the store that keeps it (row C10).

run's end ─► proposing ─► owners: whose? ─┬► store.add            the caller's own, its run's
                                          └► waits ─► reviewing   a team's, somebody else's ─► store.add
"""
