"""Calls of skills at set times: their settings, their due times, and the runs that they start."""
