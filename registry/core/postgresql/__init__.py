"""Django's PostgreSQL backend with less work per request and statement. See DATABASES."""
