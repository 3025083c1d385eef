"""The command-line client, one file that the site serves with its own address."""
