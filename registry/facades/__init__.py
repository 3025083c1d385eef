"""Protocols of other registries and clients, one package each. They only serve and translate
existing data.
"""
