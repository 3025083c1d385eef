"""Rules of teams and tokens: they allow agents to run skills without approval, or forbid it."""
