"""Protocols for calling scripts: prepares calls, interprets results, lists a package's entry points."""
