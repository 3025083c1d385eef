"""An agent loop of a skill's own (``context: fork``): its model, its tools, its budget.

The library behind it is heavy: ``worker.fork.conversation`` alone imports it, and only when a loop begins.
"""
