"""Checks of a package that need interpreters or the site's limits, at check and publication. Runs no code."""
