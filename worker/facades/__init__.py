"""Protocols of other clients that start and read runs, one package each. ``registry.facades`` has the
protocols that only read skills.
"""
