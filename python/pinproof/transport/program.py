"""The program that a host's interpreter reads from its standard input.

It carries the collectors' sources in memory and imports them from there: no
file of ours exists on the host at any time. Only what the asked collectors need
is sent.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PACKAGE = "pinproof_probe"

_RELATIVE_IMPORT = re.compile(
    r"^[ \t]*from[ \t]+\.+(?:module_utils)?\.?(\w*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE
)

_BOOT = """\
import sys
sys.dont_write_bytecode = True
import base64, importlib.abc, importlib.util, json, zlib
sent = json.loads(zlib.decompress(base64.b64decode("{blob}")))
class Memory(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name in sent["sources"]:
            return importlib.util.spec_from_loader(name, self, is_package=name in sent["packages"])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        name = module.__name__
        exec(compile(sent["sources"][name], "<memory>/" + name.replace(".", "/") + ".py", "exec"), module.__dict__)
sys.meta_path.insert(0, Memory())
if sys.version_info < (3, 8):
    sys.exit("pinproof needs Python 3.8 or newer on the host, this is " + sys.version.split()[0])
import {package}.module_utils._program as program
program.emit(program.run(sent["payload"], "{package}"))
"""


def host_program(payload: Mapping[str, Any], plugins: Path) -> bytes:
    """Make the program for one host.

    `payload` is what `_program.run` takes; `plugins` is the folder that holds
    `modules/` and `module_utils/`.
    """
    wanted = {request["collector"] for request in payload["probes"]}
    sources = _sources(plugins, wanted)
    packages = [PACKAGE, f"{PACKAGE}.modules", f"{PACKAGE}.module_utils"]
    sent = {"payload": payload, "packages": packages, "sources": {**dict.fromkeys(packages, ""), **sources}}
    blob = base64.b64encode(zlib.compress(json.dumps(sent).encode("ascii"), 6)).decode("ascii")
    return _BOOT.format(blob=blob, package=PACKAGE).encode("ascii")


def _sources(plugins: Path, collectors: Iterable[str]) -> dict[str, str]:
    """Collect the collectors and what they import of `module_utils`, directly or not."""
    found: dict[str, str] = {}
    todo = [("modules", name) for name in collectors] + [("module_utils", "_program")]
    while todo:
        folder, name = todo.pop()
        key = f"{PACKAGE}.{folder}.{name}"
        if key in found:
            continue
        text = (plugins / folder / f"{name}.py").read_text(encoding="utf-8")
        found[key] = text
        todo.extend(("module_utils", used) for used in _used_utilities(text))
    return found


def _used_utilities(text: str) -> list[str]:
    """List the module utilities that a source imports, wherever in it the import stands.

    By pattern: parsing every source would take longer than the looks themselves.
    """
    names: list[str] = []
    for module, imported in _RELATIVE_IMPORT.findall(text):
        names.extend([module] if module else re.findall(r"(\w+)(?:\s+as\s+\w+)?\s*[,)\n#]", imported + "\n"))
    return names
