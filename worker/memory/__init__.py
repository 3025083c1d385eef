"""Memory: proposals by runs, their review, and the store of accepted memories.

When a run ends, ``propose`` adds the memories that need no review to the store. The others wait for
``review``.
"""
