"""The command-line client: a single file, into which the site inserts its URL."""
