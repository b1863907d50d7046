"""One look by hand: `ansible HOST -m gpu_facts` goes the same way as a whole run."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from pinproof.ansible.looks import host_access, look
from pinproof.ansible.plain import plain
from pinproof.catalogue import KINDS, Parameter
from pinproof.errors import PinproofError, UsageError
from pinproof.transport.requests import payload

DEADLINE_S = 20.0


class SingleLook(ActionBase):  # type: ignore[misc]
    """Base of the action plugins that are named like the collectors.

    The result holds the observation under the fact of the collector's name, and
    is failed where nothing could be seen.
    """

    TRANSFERS_FILES = False
    _requires_connection = True
    _supports_check_mode = True
    collector = ""

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Look once and give the observation."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        result["changed"] = False
        try:
            observation = self._observe(task_vars or {})
        except PinproofError as error:
            return {**result, "failed": True, "msg": str(error)}
        result["ansible_facts"] = {self.collector: observation}
        if observation["status"] not in ("ok", "absent"):
            result.update(failed=True, msg=f"{observation['status']}: {observation['why']}")
        return result

    def _observe(self, variables: dict[str, Any]) -> dict[str, Any]:
        arguments = plain(self._task.args)
        kind = self._kind(arguments)
        request = {
            "probe": kind,
            "collector": self.collector,
            "kind": kind,
            "params": typed_parameters(kind, arguments),
            "deadline_s": DEADLINE_S,
        }
        plugins = Path(__file__).resolve().parents[3] / "plugins"
        run = f"by-hand-{secrets.token_hex(4)}"
        sent = payload(
            str(variables["inventory_hostname"]),
            run,
            host_access(self, variables),
            [request],
            ["*"],
            secrets.token_hex(32),
        )
        answer = look(self, plugins, sent, variables)
        observation: dict[str, Any] = answer["observations"][0]
        return observation

    def _kind(self, arguments: dict[str, Any]) -> str:
        mine = [name for name, kind in KINDS.items() if kind.collector == self.collector]
        chosen = str(arguments.pop("kind", mine[0] if len(mine) == 1 else ""))
        if chosen not in mine:
            raise UsageError(f"{self.collector} needs kind={'|'.join(mine)}" + (f", not '{chosen}'" if chosen else ""))
        return chosen


def typed_parameters(kind: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Type the arguments of a look by the catalogue. Raises UsageError naming the argument."""
    declared = KINDS[kind].parameters
    unknown = sorted(set(arguments) - set(declared))
    if unknown:
        raise UsageError(f"{kind} has no '{unknown[0]}'; it takes {', '.join(sorted(declared)) or 'nothing'}")
    missing = sorted(name for name, parameter in declared.items() if parameter.required and name not in arguments)
    if missing:
        raise UsageError(f"{kind} needs {missing[0]}= ({declared[missing[0]].about})")
    return {name: _typed(name, declared[name], value) for name, value in arguments.items()}


def _typed(name: str, parameter: Parameter, value: Any) -> Any:
    if parameter.type in ("int",):
        if not str(value).isdecimal():
            raise UsageError(f"'{name}' must be a whole number, not '{value}'")
        return int(value)
    if parameter.type == "bool":
        if str(value).lower() not in ("true", "false"):
            raise UsageError(f"'{name}' must be true or false, not '{value}'")
        return str(value).lower() == "true"
    if parameter.type == "names":
        return [str(item) for item in value] if isinstance(value, list) else str(value).split(",")
    if parameter.type in ("process", "patterns", "dialects"):
        return value if isinstance(value, dict) else _json_object(name, str(value))
    return str(value)


def _json_object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError(f'\'{name}\' must be a JSON object, such as {{"container": "dsv41"}}')
    return value
