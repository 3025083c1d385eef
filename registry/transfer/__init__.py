"""Copies a whole site: rows and blobs between databases, storages and backup files."""
