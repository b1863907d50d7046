"""Parameters and attributes that several kinds of probe share."""

from __future__ import annotations

from pinproof.catalogue.kind import Attribute, Parameter

INSIDE = Parameter("process", "read inside the root of this process' container (through /proc/PID/root)")
SETTINGS = {
    "settings[*].value": Attribute("text", "the value, or the default where the launch environment may override it"),
    "settings[*].kind": Attribute("text", "literal, default, undecidable or malformed"),
    "settings[*].overridable": Attribute("bool", "true where the launch environment may override it"),
    "settings[*].line": Attribute("int", "the line of the assignment that decides", state=True),
    "malformed[*]": Attribute("text", "lines (by number) that the dialect refuses, with the reason"),
}
CHANGED = {
    "changed_at": Attribute("float", "when the latest of the files changed, seconds since the epoch", state=True)
}
ARGUMENTS = {
    "argv[*]": Attribute("option", "options by name without dashes: text; a list where repeated; true where valueless"),
    "json[*][**]": Attribute("json", "options whose value is a JSON object or list, as JSON"),
    "arguments": Attribute("list[text]", "what is neither option nor option's value, in order"),
}
