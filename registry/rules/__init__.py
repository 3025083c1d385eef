"""Rules of teams and tokens. Allow rules permit agents to run skills without approval; deny rules apply to
everyone.
"""
