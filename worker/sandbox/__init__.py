"""Runs untrusted scripts in isolation, without Django: ``SandboxSettings`` holds the site's settings."""
