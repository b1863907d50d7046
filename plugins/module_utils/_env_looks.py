"""TEMPORARY stand-in for integration; the owner replaces this file."""
from __future__ import annotations
from ._env_file import parse, settings
from ._observation import Observation
def look_env_file(params, root, disclosure):
    raise NotImplementedError
def look_derivation(params, root, disclosure):
    o = Observation("file", "read")
    b = settings(parse(root.text(params["base"]), params["dialect"])); d = settings(parse(root.text(params["derived"]), params["dialect"]))
    v = lambda s, k: s[k]["value"]
    o.identity["added"] = {k: v(d, k) for k in d if k not in b}
    o.identity["removed"] = {k: v(b, k) for k in b if k not in d}
    o.identity["changed"] = {k: {"base": v(b, k), "derived": v(d, k)} for k in d if k in b and v(b, k) != v(d, k)}
    o.identity["kept"] = {k: v(d, k) for k in d if k in b and v(b, k) == v(d, k)}
    return o
