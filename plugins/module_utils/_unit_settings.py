# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the assignments of a unit's files come to: commands, environment, settings.

This module util is private to the collectors. Later files add to lists or
replace values, an empty assignment takes back what came before. What can not be
decided is kept as the failure it is, and does not lose the rest.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t

from ._observation import LookError, Unparsable
from ._specifiers import Specifiers
from ._unit_commands import parse_commands, simplified
from ._unit_file import Assignment
from ._unit_words import BadQuoting, take_word

# Settings of which only the last one counts; of any other the values add up.
LAST_COUNTS = frozenset(
    """
    Description DefaultDependencies AllowIsolate RefuseManualStart RefuseManualStop StopWhenUnneeded SourcePath
    IgnoreOnIsolate CollectMode OnFailureJobMode JobTimeoutSec JobTimeoutAction StartLimitIntervalSec StartLimitBurst
    StartLimitAction FailureAction SuccessAction RebootArgument
    Type ExitType RemainAfterExit GuessMainPID PIDFile BusName Restart RestartSec RestartMode RestartSteps
    RestartMaxDelaySec TimeoutSec TimeoutStartSec TimeoutStopSec TimeoutAbortSec TimeoutStartFailureMode
    TimeoutStopFailureMode RuntimeMaxSec WatchdogSec NotifyAccess NonBlocking RootDirectoryStartOnly OOMPolicy
    User Group DynamicUser WorkingDirectory RootDirectory RootImage UMask Nice OOMScoreAdjust CPUSchedulingPolicy
    CPUSchedulingPriority CPUSchedulingResetOnFork IOSchedulingClass IOSchedulingPriority NUMAPolicy
    StandardInput StandardOutput StandardError TTYPath SyslogIdentifier SyslogFacility SyslogLevel PAMName
    KillMode KillSignal RestartKillSignal FinalKillSignal WatchdogSignal SendSIGKILL SendSIGHUP
    PrivateTmp PrivateDevices PrivateNetwork PrivateUsers PrivateMounts PrivateIPC ProtectSystem ProtectHome ProtectProc
    ProtectKernelTunables ProtectKernelModules ProtectKernelLogs ProtectControlGroups ProtectClock ProtectHostname
    ProcSubset NoNewPrivileges LockPersonality MemoryDenyWriteExecute RestrictRealtime RestrictSUIDSGID RemoveIPC
    MountFlags MountAPIVFS IgnoreSIGPIPE KeyringMode Personality
    LimitCPU LimitFSIZE LimitDATA LimitSTACK LimitCORE LimitRSS LimitNOFILE LimitAS LimitNPROC LimitMEMLOCK LimitLOCKS
    LimitSIGPENDING LimitMSGQUEUE LimitNICE LimitRTPRIO LimitRTTIME
    Slice CPUAccounting CPUWeight StartupCPUWeight CPUQuota CPUQuotaPeriodSec AllowedCPUs AllowedMemoryNodes
    MemoryAccounting MemoryMin MemoryLow MemoryHigh MemoryMax MemorySwapMax MemoryZSwapMax MemoryLimit
    TasksAccounting TasksMax IOAccounting IOWeight StartupIOWeight IPAccounting DevicePolicy
    ManagedOOMSwap ManagedOOMMemoryPressure ManagedOOMPreference
    Unit AccuracySec RandomizedDelaySec Persistent WakeSystem Accept Service
    """.split()  # noqa: SIM905 (a table to read)
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclasses.dataclass
class Settings:
    """The outcome. What could not be decided is a LookError in its place; `environment` has it by name.

    `refused` is the first command that systemd refuses: it reads no further in
    that file, so that nothing of the outcome can be relied on.
    """

    refused: t.Optional[Unparsable]
    commands: t.Union[list[list[str]], LookError]
    environment: t.Union[dict[str, t.Union[str, LookError]], LookError]
    environment_files: t.Union[list[str], LookError]
    others: dict[str, str]
    notes: list[str]


def settle(assignments: t.Iterable[Assignment], sections: t.Sequence[str], specifiers: Specifiers) -> Settings:
    """Go through all assignments in order; `sections` are those that the unit's type knows."""
    commands = _Commands(specifiers)
    environment = _Environment(specifiers)
    files = _EnvironmentFiles(specifiers)
    special: dict[str, _List] = {"ExecStart": commands, "Environment": environment, "EnvironmentFile": files}
    others: dict[str, list[str]] = {}
    notes: list[str] = []
    for item in assignments:
        if item.section.startswith("X-") or item.key.startswith("X-"):
            continue
        if item.section not in sections:
            notes.append("%s:%d: a section of another name, passed over" % (item.path, item.line))
        elif item.key in special and item.section == "Service":
            special[item.key].take(item)
        else:
            _take_other(others, item)
    for taker in special.values():
        notes += taker.notes
    return Settings(
        refused=commands.refused,
        commands=commands.fault or commands.commands,
        environment=environment.fault or environment.values,
        environment_files=files.fault or files.paths,
        others={name: "\n".join(values) for name, values in others.items()},
        notes=list(dict.fromkeys(notes)),
    )


def _take_other(others: dict[str, list[str]], item: Assignment) -> None:
    name = "%s.%s" % (item.section, item.key)
    if not item.value:
        others.pop(name, None)
    elif item.key in LAST_COUNTS:
        others[name] = [item.value]
    else:
        others.setdefault(name, []).append(item.value)


class _List:
    """A setting that adds up. Its first failure stays until an assignment takes all back."""

    def __init__(self, specifiers: Specifiers) -> None:
        self.specifiers = specifiers
        self.fault: t.Optional[LookError] = None
        self.notes: list[str] = []

    def take(self, item: Assignment) -> None:
        """Take one more assignment."""
        if not item.value:
            self.fault = None
            self.reset()
            return
        try:
            self.add(item)
        except LookError as error:
            self.fault = self.fault or _placed(error, item)

    def reset(self) -> None:
        """Forget what came before."""
        raise NotImplementedError

    def add(self, item: Assignment) -> None:
        """Add one assignment's value. Raises a LookError."""
        raise NotImplementedError


def _placed(error: LookError, item: Assignment) -> LookError:
    return type(error)("%s:%d: %s" % (item.path, item.line, error.why))


class _Commands(_List):
    commands: list[list[str]]

    def __init__(self, specifiers: Specifiers) -> None:
        super().__init__(specifiers)
        self.refused: t.Optional[Unparsable] = None
        self.reset()

    def reset(self) -> None:
        self.commands = []

    def add(self, item: Assignment) -> None:
        try:
            self.commands += parse_commands(item.value, self.specifiers.expand)
        except Unparsable as error:
            self.refused = self.refused or Unparsable(_placed(error, item).why)
            raise
        if "$" in item.value:
            self.notes.append("%s:%d: ExecStart= holds variables ($), shown as written" % (item.path, item.line))


class _Environment(_List):
    values: dict[str, t.Union[str, LookError]]

    def __init__(self, specifiers: Specifiers) -> None:
        super().__init__(specifiers)
        self.reset()

    def reset(self) -> None:
        self.values = {}

    def add(self, item: Assignment) -> None:
        position = 0
        while True:
            try:
                word, position = take_word(item.value, position)
            except BadQuoting as error:
                self._pass_over(item, "the rest of the line: %s" % error)
                return
            if word is None:
                return
            self._assign(word, item)

    def _assign(self, word: str, item: Assignment) -> None:
        try:
            expanded = self.specifiers.expand(word)
        except LookError as error:
            name = word.partition("=")[0]
            if not _NAME.fullmatch(name):
                raise
            self.values[name] = _placed(error, item)
            return
        name, equals, value = expanded.partition("=")
        if not equals or not _NAME.fullmatch(name) or _CONTROL.search(value) or not _is_utf8(value):
            self._pass_over(item, "a word that is no assignment")
            return
        self.values[name] = value

    def _pass_over(self, item: Assignment, what: str) -> None:
        self.notes.append("%s:%d: Environment=: passed over: %s" % (item.path, item.line, what))


class _EnvironmentFiles(_List):
    paths: list[str]

    def __init__(self, specifiers: Specifiers) -> None:
        super().__init__(specifiers)
        self.reset()

    def reset(self) -> None:
        self.paths = []

    def add(self, item: Assignment) -> None:
        path = self.specifiers.expand(item.value)
        mark = "-" if path.startswith("-") else ""
        bare = path[len(mark) :]
        if not bare.startswith("/"):
            self.notes.append("%s:%d: EnvironmentFile=: passed over: not an absolute path" % (item.path, item.line))
            return
        self.paths.append(mark + simplified(bare))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
