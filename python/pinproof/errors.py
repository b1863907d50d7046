"""The errors that reach a user, each with the exit code it ends in.

A difference between hosts and manifest is a result, never an exception.
"""

from __future__ import annotations

from pinproof import exit_codes


class PinproofError(Exception):
    """Base of all errors that are told to the user without a traceback."""

    exit_code = exit_codes.INTERNAL


class UsageError(PinproofError):
    """The command line asks for something that does not exist or does not fit."""

    exit_code = exit_codes.USAGE


class ConfigurationError(PinproofError):
    """A manifest or inventory that cannot be used; the text names file, line, column and the fix."""

    exit_code = exit_codes.CONFIGURATION


class ObservationError(PinproofError):
    """Facts that are not in the format of an observation."""


class ArchiveError(PinproofError):
    """The archive cannot be written or read."""
