"""Canonical skills: administrators pin one version of one skill per slug."""
