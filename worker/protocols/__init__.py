"""Prepares calls of scripts and prompts, interprets their results, and lists a package's entry points."""
