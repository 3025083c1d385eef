"""The agent loop of a skill (``context: fork``): its model, its tools, its budget.

The library pydantic-ai is slow to import: only ``loop`` imports it, and ``loop`` is imported when a loop
starts.
"""
