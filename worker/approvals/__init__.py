"""Approvals: runs that wait until a person decides or the request expires."""
