"""The sandbox launcher, which runs in its own process without Django. Standard library only."""
