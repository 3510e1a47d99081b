"""Tournaments with ratings and reports (docs/guides/run-a-tournament.md)."""
