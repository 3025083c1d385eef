"""Scans a package's files for signs of harm and reports findings with rule, severity, line and quote."""
