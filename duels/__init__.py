"""Duels: five two-player number games, played right.

>>> import duels
>>> duels.__version__
'0.1.0'
"""

__version__ = "0.1.0"
