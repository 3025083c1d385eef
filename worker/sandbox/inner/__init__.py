"""What runs outside Django in a process of its own: the launcher of sandboxes. Standard library only."""
