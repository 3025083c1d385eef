"""Sends deliveries: chooses the next one, builds its message, transmits it, and records the outcome."""
