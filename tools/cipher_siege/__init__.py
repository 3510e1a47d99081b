"""Measurements of the Cipher Siege strategy that only tests and scripts use."""
