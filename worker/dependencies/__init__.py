"""What scripts need beyond their package: asked for at publish, made once, shown read-only to runs.

needs → queue (claim, lease) → building (sandbox, index) → keeping (archive, folder) → placing
"""
