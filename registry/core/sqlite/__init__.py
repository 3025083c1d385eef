"""Django's SQLite backend, which converts the placeholders of each statement once. See DATABASES."""
