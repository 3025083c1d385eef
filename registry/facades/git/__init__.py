"""git, read only: the versions of a skill as commits, and marketplaces of plugins for coding agents."""
