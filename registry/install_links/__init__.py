"""Install links: addresses with a secret, for clients that can send no header."""
