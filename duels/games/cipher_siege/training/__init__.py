"""Training of the Cipher Siege strategy: Monte Carlo CFR, move values, and the published table."""
