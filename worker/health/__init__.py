"""The state of the site: heartbeats of processes, checks of services, and figures of the queue and the
runs.
"""
