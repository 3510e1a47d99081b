"""Tournaments between players of any kind, with ratings and reports (docs/arena.md)."""
