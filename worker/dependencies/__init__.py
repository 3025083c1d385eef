"""Dependencies of scripts: enqueued at publication, built once, mounted read-only into runs.

needs → queue (claim, lease) → build (sandbox, index) → store (archive, folder) → mounts
"""
