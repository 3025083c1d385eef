"""Team secrets: stored encrypted, granted to skills by people, and available only to runs."""
