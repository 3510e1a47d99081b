"""Storage of rooms, matches, responses and ratings: SQLite and PostgreSQL."""
