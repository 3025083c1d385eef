"""Schedules: calls of skills at set times, their due times, and the runs that they start."""
