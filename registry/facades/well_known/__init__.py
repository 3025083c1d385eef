"""The well-known index of agent skills in versions 0.1.0 and 0.2.0 of the discovery format, and the search
endpoint for its clients.
"""
