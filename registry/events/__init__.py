"""Receives events from other systems, and starts or proposes the skills that declare the event type."""
