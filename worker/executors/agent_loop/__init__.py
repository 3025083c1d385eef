"""The agent loop of a skill (``context: fork``): its model, its tools, its budget.

The library behind it is slow to import: only ``conversation`` imports it, and only when a loop starts.
"""
