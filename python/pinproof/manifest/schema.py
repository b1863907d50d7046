"""The JSON Schema of manifests, for editors: made from the same declarations as the loader.

It knows keys, kinds, parameters and shapes. What only the whole manifest tells
(whether a name is declared, what type an attribute has) is the loader's:
`pinproof manifest check`.
"""

from __future__ import annotations

from typing import Any

from pinproof.catalogue import KINDS
from pinproof.manifest.fields import CHECKS, MANIFEST, PIN, PROBE, VERSION

DRAFT = "https://json-schema.org/draft/2020-12/schema"
IDENTIFIER = f"urn:pinproof:manifest:{VERSION}"


def manifest_schema() -> dict[str, Any]:
    """Give the schema."""
    schema: dict[str, Any] = {
        "$schema": DRAFT,
        "$id": IDENTIFIER,
        "title": "pinproof manifest",
        "description": "What is pinned on a set of LLM-serving hosts, row by row",
    }
    schema |= MANIFEST.schema()
    schema["properties"]["probes"]["additionalProperties"] = {"$ref": "#/$defs/probe"}
    schema["properties"]["rows"]["items"]["properties"]["pins"]["items"] = {"$ref": "#/$defs/pin"}
    schema["$defs"] = {"probe": _probe(), "pin": _pin(), "expected": _expected()}
    return schema


def _probe() -> dict[str, Any]:
    """Give the rule of a probe: exactly one kind."""
    return PROBE.schema() | {"oneOf": [{"required": [kind]} for kind in KINDS]}


def _pin() -> dict[str, Any]:
    """Give the rule of a pin: at least one check."""
    return PIN.schema() | {"anyOf": [{"required": [check]} for check in CHECKS]}


def _expected() -> dict[str, Any]:
    """Give the rule of an expectation: a single value, or a list or map that is not empty, at any depth.

    Under a key a text may be empty: set, and empty.
    """
    nested = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/expected"}]}
    return {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": ["number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/expected"}, "minItems": 1},
            {"type": "object", "additionalProperties": nested, "minProperties": 1},
        ]
    }
