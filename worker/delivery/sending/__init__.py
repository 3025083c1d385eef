"""Sends deliveries: which one is next, its message, the connection, and the record of the outcome."""
