"""Telling a run: as text on a terminal, as Markdown in the archive, and one row or pin in full.

What comes from hosts is never trusted: `text` makes it one line of printable
characters before it reaches a terminal or a document.
"""
