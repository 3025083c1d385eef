"""Read-only git repositories: the versions of a skill as commits, and marketplaces of plugins for coding
agents.
"""
