"""Canonical skills: for each slug, administrators can pin one version that the site recommends."""
