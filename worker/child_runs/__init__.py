"""Runs that other runs start: the worker's side of a script's channel."""
