"""Endpoints of notifications."""
