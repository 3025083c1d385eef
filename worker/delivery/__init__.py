"""Notifications: events, their recipients, the inbox, and deliveries to other systems."""
