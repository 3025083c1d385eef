"""Converts older ApexBridge packages to valid ones. Only the module ``folders`` changes files on disk."""
