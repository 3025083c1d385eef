"""The state of the site: heartbeats of its processes, checks of its services, figures of queue and runs."""
