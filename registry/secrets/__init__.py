"""Team secrets: stored encrypted, granted to skills by people, available only to runs."""
