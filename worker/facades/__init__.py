"""Protocols of other clients that start and read runs, one package each. The protocols that only read skills
are in ``registry.facades``.
"""
