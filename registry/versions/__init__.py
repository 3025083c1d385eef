"""Publishes, edits and retires skills and versions."""
