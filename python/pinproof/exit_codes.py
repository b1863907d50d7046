"""Every exit code of the `pinproof` commands, in the order that monitoring plugins use."""

RECONCILED = 0
INTERNAL = 1
STOP = 2
HOLD = 3
USAGE = 64
CONFIGURATION = 78
