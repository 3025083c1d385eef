"""Dependencies of scripts: queued at publication, built once, and mounted read-only into runs.

needs → queue (claim, lease) → build (sandbox, index) → store (archive, folder) → mounts
"""
