"""Reads, checks, compares and scans skill packages. Imports no Django and no other registry package."""
