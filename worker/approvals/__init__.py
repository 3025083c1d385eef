"""Runs that wait for somebody's leave: asked, decided once by a person, or expired."""
