"""The launcher of sandboxes and the processes that it forks, without Django. Standard library only."""
