"""Child runs: runs that a script starts through its channel to the worker."""
