"""Tournaments between players of any kind, and what they say about them. docs/arena.md"""
