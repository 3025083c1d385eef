"""Collections: named lists of skills that clients install together."""
