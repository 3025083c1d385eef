"""The npm registry protocol, read-only: each skill is the package ``@team/skill``."""
