"""Bounds on the exploitability of a Cipher Siege strategy: learned responders and search."""
