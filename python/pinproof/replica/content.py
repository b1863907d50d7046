"""Bytes that fill the replica's files: fixed by a label, in the shape of the real thing."""

from __future__ import annotations

import hashlib
import struct


def noise(label: str, size: int) -> bytes:
    """Give `size` bytes that depend on the label alone."""
    return hashlib.shake_256(label.encode()).digest(size)


def shared_object(label: str, size: int = 6144) -> bytes:
    """Give a shared library's bytes: an ELF header for 64-bit ARM, then noise."""
    ident = b"\x7fELF" + bytes([2, 1, 1, 0]) + b"\0" * 8
    header = struct.pack("<HHIQQQIHHHHHH", 3, 183, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)
    return ident + header + noise(label, size)


def program(label: str, machine: int = 183, size: int = 16384) -> bytes:
    """Give an executable's bytes; `machine` is the ELF number (183 ARM, 62 x86)."""
    ident = b"\x7fELF" + bytes([2, 1, 1, 0]) + b"\0" * 8
    header = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x400000, 64, 0, 0, 64, 56, 0, 64, 0, 0)
    return ident + header + noise(label, size)


def module(name: str, about: str) -> str:
    """Give the text of a small Python module."""
    stamp = hashlib.sha256(f"{name}: {about}".encode()).hexdigest()
    return (
        f'"""{about}"""\n\nfrom __future__ import annotations\n\n'
        f'NAME = "{name}"\nREVISION = "{stamp[:12]}"\n\n\n'
        f"def table() -> tuple[int, ...]:\n"
        f'    """Give the constants this part was tuned with."""\n'
        f"    return ({', '.join(str(int(stamp[at : at + 4], 16)) for at in range(12, 44, 4))})\n"
    )


def sha256(data: bytes | str) -> str:
    """Give the sha256 of bytes, or of a text in UTF-8."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()
