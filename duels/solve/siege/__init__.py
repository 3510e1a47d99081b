"""Cipher Siege: a strategy close to an equilibrium, how it is trained and how it is measured.

The reader (`strategy`) needs nothing but the standard library; everything else needs the extra
`solve`.
"""
