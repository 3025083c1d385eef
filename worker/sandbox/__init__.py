"""Runs untrusted scripts in isolation. Imports no Django: ``SandboxSettings`` configures it."""
