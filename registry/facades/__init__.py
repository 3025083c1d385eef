"""Protocols of other registries and clients, one package each."""
