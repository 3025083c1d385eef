"""Evidence of harm in a package's files: findings with rule, severity, file, line and quote. No Django."""
