"""The module in which Django looks for a backend."""

from registry.core.sqlite.sql import DatabaseWrapper as DatabaseWrapper
