"""pinproof: is what runs on LLM-serving hosts exactly what was pinned?

The pure core is `manifest` (what is pinned), `observations` (what was seen) and
`reconcile` (the verdicts); `archive`, `report` and `cli` are the shell around it.
"""

__version__ = "0.1.0"
