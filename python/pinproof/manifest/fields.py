"""The keys of a manifest: one declaration for the loader, the JSON Schema and the reference.

What a key means for its neighbours (a pin's check for its attribute, a name for
the thing that it names) is checked where the parts are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pinproof.catalogue import KINDS, Parameter
from pinproof.manifest import nodes
from pinproof.manifest.errors import Problems
from pinproof.manifest.shapes import Choice, Either, Expected, Field, ListOf, MapOf, Record, Schema, Shape, Text
from pinproof.verdicts import Evidence

VERSION = 1
BASELINE = "baseline"
EVIDENCE = tuple(level.word for level in Evidence)
DURATION = r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)? ?(?:ms|s|min|h)"

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_NAMES = "letters, digits, '-', '_' and '.'"
_A_NAME = Text(f"a name ({_NAMES})", _NAME)
_ID = Text(f"an id ({_NAMES})", _NAME)
_VERSION = Choice((str(VERSION),), f"write `version: {VERSION}`")
_HOST = Text(f"the name of a host ({_NAMES})", _NAME)
_PLACE = Text(f"a host or a group ({_NAMES})", _NAME)
_PLACES = ListOf(_PLACE, "hosts and groups", or_one=True)
_PROBE_NAME = Text("the name of a probe (letters, digits, '_', '+' and '-')", r"[A-Za-z0-9_][A-Za-z0-9_+-]*")
_AT = Text("a path into an observation (PROBE.NAME[KEY]...)")
_DIALECT = Choice(("shell", "container", "compose", "systemd"))
_DURATION = Text("a duration (such as `30 s` or `5 min`)", DURATION)
_LIMIT = Text("a number, with its unit where the attribute is one of bytes", loose=True)
_PATTERN = Text("a regular expression")

_PARAMETER_SHAPES: Mapping[str, Shape] = {
    "text": Text(loose=True),
    "path": Text("a path that begins with / or ~/", r"(?:/|~/)[^\n]*"),
    "commit": Text("a commit (7 to 64 hex digits, lower case)", r"[0-9a-f]{7,64}", loose=True),
    "names": ListOf(Text(loose=True), "names"),
    "bool": Choice(("true", "false")),
    "int": Text("a whole number from 1", r"[1-9][0-9]{0,8}", loose=True),
    "duration": _DURATION,
    "process": _PROBE_NAME,
    "dialect": _DIALECT,
    "regex": _PATTERN,
    "patterns": MapOf(_PATTERN, "names to regular expressions", _PROBE_NAME),
    "dialects": MapOf(_DIALECT, "files to dialects"),
}
_PARTICULAR: Mapping[tuple[str, str], Shape] = {
    ("jit", "cache"): Choice(("triton", "inductor", "vllm", "flashinfer", "deepgemm", "tilelang", "cuda")),
}


def parameter_shape(kind: str, name: str, parameter: Parameter) -> Shape:
    """Give the shape of a probe's parameter."""
    return _PARTICULAR.get((kind, name)) or _PARAMETER_SHAPES[parameter.type]


PARAMETERS: Mapping[str, Record] = {
    kind: Record(
        f"the parameters of kind '{kind}'",
        {
            name: Field(parameter_shape(kind, name, parameter), parameter.about, parameter.required)
            for name, parameter in declared.parameters.items()
        },
    )
    for kind, declared in KINDS.items()
}


@dataclass(frozen=True, slots=True)
class KindValue:
    """What a probe's kind is given: its parameters, or the one that a plain text stands for."""

    kind: str

    def check(self, node: nodes.Node, key: str, problems: Problems) -> bool:
        """Check a plain text; a map is checked when it is opened."""
        subject = KINDS[self.kind].subject
        if isinstance(node, nodes.Mapping):
            return True
        if isinstance(node, nodes.Scalar) and node.missing:
            problems.add(node, f"'{key}' has no value", f"write `{key}: {{}}`, or its {subject}")
            return False
        if isinstance(node, nodes.Scalar):
            return PARAMETERS[self.kind].fields[subject].shape.check(node, subject, problems)
        if isinstance(node, nodes.Sequence):
            problems.add(node, f"'{key}' must be a map of parameters, or its {subject}, not a list")
        return False

    def schema(self) -> Schema:
        """Give the rule."""
        record = PARAMETERS[self.kind]
        subject = KINDS[self.kind].subject
        required = {name for name, field in record.fields.items() if field.required}
        parameters = record.schema()
        return {"anyOf": [record.fields[subject].shape.schema(), parameters]} if required <= {subject} else parameters


AUTHORITY = Record(
    "an authority",
    {
        "id": Field(_ID, "its name", required=True),
        "about": Field(Text(), "what it is"),
        "date": Field(Text(loose=True), "since when"),
        "supersedes": Field(Text(), "the authority that it replaces"),
        "scope": Field(Text(), "the scope in which it does; everywhere where there is none"),
    },
)

_PROBE_OWN = {
    "on": Field(_PLACES, "the hosts to look on: a host, a group, or a list of them", required=True),
    "loaded_by": Field(_PROBE_NAME, "the process probe whose process took these bytes when it started"),
    "written_since": Field(_PROBE_NAME, "the process probe since whose start the record must have been written"),
    "deadline": Field(_DURATION, "how long the look may take (60 s where it isn't given)"),
}
PROBE = Record(
    "a probe",
    _PROBE_OWN | {kind: Field(KindValue(kind), declared.about) for kind, declared in KINDS.items()},
)

CHECKS: Mapping[str, Field] = {
    "is": Field(Expected(), "this very value; on a map these keys with these values, others are left to `closed`"),
    "absent": Field(
        Choice(("true",), "write `absent: true`, or the value that must be there"),
        "nothing there, or an empty list or map",
    ),
    "at_least": Field(
        Either(_LIMIT, MapOf(_LIMIT, "authorities to limits")), "a lower limit, or one by authority: the one in force"
    ),
    "at_most": Field(
        Either(_LIMIT, MapOf(_LIMIT, "authorities to limits")), "an upper limit, or one by authority: the one in force"
    ),
    "one_of": Field(ListOf(Expected(), "values", unique=False), "any of these values"),
    "set_of": Field(
        ListOf(Expected(), "members", unique=False, instead="write `absent: true`"),
        "a list with exactly these members, in any order, none of them twice",
    ),
    "prefix": Field(Text("an abbreviated digest or commit", loose=True), "only an abbreviation of the value is known"),
    "per_host": Field(MapOf(Expected(), "hosts to values", _HOST), "a value of its own for every host of the pin"),
    "prescribed_by": Field(
        Text("`leg.SETTING` or `start.SETTING`", rf"(?:leg|start)\.{_NAME}"),
        "the value that this leg or start of the experiment prescribes",
    ),
    "is_listed_in": Field(
        Text("the name of a list beside the manifest"),
        "the paths and digests of this file, in the format of sha256sum; it lies beside the manifest",
    ),
    "same_as": Field(Choice(("baseline",)), "what this host's baseline shows at the same path"),
    "baseline_is": Field(Expected(), "the baseline shows this value, and this run what the other checks say"),
    "same_across": Field(
        _PLACE,
        "equal on all hosts of this group (`hosts`: of this pin); `legs`, `bracket`: judged by compare, over runs",
    ),
    "distinct_across": Field(_PLACE, "on no two hosts of this group the same"),
    "closed": Field(
        ListOf(Text("a glob", loose=True), "globs", or_one=True),
        "keys that match these globs and that no pin on this map lists are refused",
    ),
}
PIN = Record(
    "a pin",
    {
        "at": Field(_AT, "what is pinned: a path into an observation", required=True),
        "id": Field(Text("an id", r"\S(?:.*\S)?"), "its id where ROW/AT is not unique; never reused, never changed"),
        "on": Field(_PLACES, "these of the probe's hosts only"),
        "split": Field(Text("a separator", loose=True), "a text is made a list at it before it is checked"),
        "record": Field(Choice(("drift",)), "a difference is recorded as DRIFT and never stops"),
        "note": Field(Text(), "what the reader of a report should know"),
    }
    | dict(CHECKS),
)

ROW = Record(
    "a row",
    {
        "id": Field(_ID, "its id; never reused, never changed", required=True),
        "setting": Field(Text(), "its title in reports (the id where it isn't given)"),
        "requires": Field(Choice(EVIDENCE), "the weakest evidence that is enough for a MATCH", required=True),
        "pins": Field(ListOf(PIN, "pins"), "what is pinned", required=True),
    },
)

LEG = Record(
    "a leg",
    {"id": Field(_ID, "its id; labels may repeat, ids don't", required=True)},
    extra=Text("the text of a setting", loose=True),
)
START = Record(
    "a start",
    {"of": Field(ListOf(Text(), "legs"), "the legs that have it", required=True)},
    extra=Text("the text of a setting", loose=True),
)
EXPERIMENT = Record(
    "the experiment",
    {
        "legs": Field(ListOf(LEG, "legs"), "its arms in order, each with what it prescribes", required=True),
        "starts": Field(MapOf(START, "starts", _A_NAME), "kinds of starts, each with what it prescribes"),
        "may_differ": Field(ListOf(_AT, "paths"), "what may differ between legs"),
    },
)

MANIFEST = Record(
    "the manifest",
    {
        "manifest": Field(_A_NAME, "its name", required=True),
        "version": Field(_VERSION, f"the format: `version: {VERSION}`", required=True),
        "scope": Field(_A_NAME, "the scope it is for; authorities may be limited to one"),
        "hosts": Field(ListOf(_HOST, "hosts"), "every host, by its name in the inventory", required=True),
        "groups": Field(
            MapOf(ListOf(_HOST, "hosts"), "groups", Text(f"the name of a group ({_NAMES})", _NAME)),
            "named sets of hosts",
        ),
        "authorities": Field(ListOf(AUTHORITY, "authorities"), "who sets limits, and who supersedes whom"),
        "probes": Field(MapOf(PROBE, "probes", _PROBE_NAME), "what to look at", required=True),
        "rows": Field(ListOf(ROW, "rows"), "what is pinned, row by row", required=True),
        "experiment": Field(EXPERIMENT, "legs and starts, where runs are compared"),
    },
)
