"""Reads the needs of scripts without running them: modules, programs, hosts and secrets."""

from registry.packages.needs.read_needs import read_needs
from registry.packages.needs.script_needs import ModuleNeed, ScriptNeeds, from_document, to_document

__all__ = ["ModuleNeed", "ScriptNeeds", "from_document", "read_needs", "to_document"]
