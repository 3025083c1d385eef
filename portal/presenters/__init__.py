"""Presenters turn skills, versions and runs into values for templates; views call them."""
