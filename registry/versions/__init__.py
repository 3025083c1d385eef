"""Publishes, edits and retires skills and versions. Only this package creates and deletes them."""
