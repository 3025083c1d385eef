"""Checks of packages that need interpreters or the site's limits. They run no code of the package."""
