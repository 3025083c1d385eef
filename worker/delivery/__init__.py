"""Notifications: what happened, who is notified, the inbox, and deliveries to other systems."""
