"""Protocols for clients that start and read runs, one package per protocol.

Protocols that only read skills are in ``registry.facades``.
"""
