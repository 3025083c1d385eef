"""The Model Context Protocol at ``/mcp``: tools for skills and runs, and the skills extension (SEP-2640).

The server keeps no state between requests. ``portal.streaming.mcp`` waits for runs.
"""
