"""Django's PostgreSQL backend, with which psycopg parses long statements once. See DATABASES."""
