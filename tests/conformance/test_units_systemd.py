"""Units against systemd itself: `systemd-analyze verify` loads generated trees with the manager's own code.

At debug level it prints what it loaded: fragment, drop-ins in order, commands,
environment. The same trees are read by the collector's code; all must agree.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from plugins.module_utils._observation import Absent, LookError
from plugins.module_utils._root import HostRoot
from plugins.module_utils._specifiers import Specifiers
from plugins.module_utils._unit_file import parse
from plugins.module_utils._unit_name import UnitName
from plugins.module_utils._unit_paths import SYSTEM_PATH, USER_PATH, UnitFinder, is_null_link, search_path
from plugins.module_utils._unit_settings import Settings, settle

TREES = 160
FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/run/systemd/transient", "/usr/lib/systemd/system")
NAMES = ("a.service", "a-b.service", "a-b-c.service", "a--b.service", "a-b-.service", "x@1.service", "x-y@i-1.service")
# Something to run, so that systemd loads the unit whatever ExecStart= comes to.
HEAD = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStop=/bin/stop\n"


@dataclass
class Loaded:
    """What a unit comes to, in the terms in which systemd prints it; paths in the tree's own terms."""

    state: str = ""
    name: str = ""
    fragment: str = ""
    dropins: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    environment_files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def ask_systemd(tree: Path, folders: list[str], unit: str) -> Loaded:
    tool = shutil.which("systemd-analyze")
    assert tool, "systemd-analyze is needed: units are compared with systemd's own reading"
    path = ":".join(f"{tree}{folder}" for folder in folders)
    environment = {
        "SYSTEMD_UNIT_PATH": path,
        "SYSTEMD_LOG_LEVEL": "debug",
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }
    command = [tool, "verify", "--man=no", "--generators=no", unit]
    answer = subprocess.run(command, cwd="/", env=environment, capture_output=True, timeout=30, check=False)
    return read_dump(answer.stdout.decode().replace(str(tree), ""), answer.stderr.decode())


def read_dump(out: str, err: str) -> Loaded:
    loaded = Loaded()
    block = ""
    for line in out.split("\n"):
        label, _, value = line.lstrip("\t").partition(": ")
        if label.startswith("-> "):
            block = label.removeprefix("-> ").rstrip(":")
            loaded.name = loaded.name or block.removeprefix("Unit ")
        elif label == "Unit Load State":
            loaded.state = value
        elif label == "Fragment Path":
            loaded.fragment = value
        elif label == "DropIn Path":
            loaded.dropins.append(value)
        elif label == "Environment":
            name, _, value = value.partition("=")
            loaded.environment[name] = value
        elif label == "EnvironmentFile":
            loaded.environment_files.append(value)
        elif label == "Command Line" and block == "ExecStart":
            # Argument 0 of its own: the trees use this one.
            loaded.commands.append("/bin/true" + value.removeprefix("zero") if value.startswith("zero") else value)
    for words, state in (
        (" is masked.", "masked"),
        (" has a bad unit file setting.", "bad"),
        (" not found.", "absent"),
    ):
        if not loaded.state and words in err:
            loaded.state = state
    return loaded


def quoted(word: str) -> str:
    """Quote a word as systemd prints words of a command line."""
    if word and not set(word) & set(" \t\n\"\\`$*?['()<>|&;!"):
        return word
    special = {"\t": "\\t", "\n": "\\n"}
    return '"' + "".join(special.get(c, "\\" + c if c in '"\\`$' else c) for c in word) + '"'


class Trees:
    """Makes trees of units, each from its seed alone."""

    def __init__(self, seed: int, tree: Path) -> None:
        self.random = random.Random(seed)
        self.tree = tree

    def write(self, path: str, text: str) -> None:
        place = Path(f"{self.tree}{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink() and not place.exists():
            place.write_text(text, encoding="utf-8")

    def link(self, path: str, target: str) -> None:
        place = Path(f"{self.tree}{path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink() and not place.exists():
            # Relative: it must lead to the same place inside the tree and outside.
            inside = target.startswith("/") and target != "/dev/null"
            place.symlink_to(os.path.relpath(f"{self.tree}{target}", place.parent) if inside else target)

    def word(self) -> str:
        pieces = ["a", "B7", "=", "%i", "%n", "%%", "%p", "#", ";", "é", "\\t", "\\x41", "\\s", "\\q", "\\101", "$X",
                  "'q r'", '"d e"', '"\\""', "\\u00e9", "%I", "%j", "*", ":", "-", "\\\\"]  # fmt: skip
        return "".join(self.random.choices(pieces, k=self.random.randint(1, 4)))

    def assignments(self) -> str:
        lines = ["[Service]"]
        for _ in range(self.random.randint(0, 5)):
            kind = self.random.randrange(9)
            words = " ".join(self.word() for _ in range(self.random.randint(1, 4)))
            if kind < 3:
                name = self.random.choice(["A", "B", "C", "_x", "9bad", "A B"])
                lines.append(f"Environment={name}={self.word()} {name}2={words}")
            elif kind == 3:
                lines.append(f"Environment = {self.random.choice(['', 'K=1', ' K = 2 '])}")
            elif kind == 4:
                lines.append(
                    f"EnvironmentFile={self.random.choice(['', '-/etc/a//b', '/etc/./%p.env', 'rel', '/x y'])}"
                )
            elif kind == 5:
                lines.append("ExecStart=")
            elif kind == 6:
                lines += [f"ExecStart=/bin/true {words} \\", "# between", "; also", f"  {words}"]
            else:
                prefix = self.random.choice(["", "", "-", ":", "+", "@", "-@", "!!"])
                words = "zero " + words if "@" in prefix else words
                tail = self.random.choice(["", " ; /bin/echo two", " \\; x", ' ";" y', " '' z"])
                lines.append(f"ExecStart={prefix}/bin/true {words}{tail}")
        if self.random.random() < 0.2:
            stray = ["", "# c", "; c", "nonsense", "[X-Foo]", "[Unknown]", "[Service]", "X-A=1"]
            lines.insert(self.random.randrange(len(lines) + 1), self.random.choice(stray))
        return self.random.choice(["\n", "\n", "\r\n"]).join(lines) + self.random.choice(["", "\n", "\\\n"])

    def grow(self) -> str:
        """Make a tree; give the unit to look at."""
        unit = UnitName.parse(self.random.choice(NAMES))
        file_name = str(unit.template()) if unit.is_instance and self.random.random() < 0.7 else str(unit)
        asked = str(unit)
        fate = self.random.random()
        folder = self.random.choice(FOLDERS)
        if fate < 0.08:
            self.link(f"{folder}/{file_name}", "/dev/null")
        elif fate < 0.14:
            self.write(f"{folder}/{file_name}", "")
        elif fate < 0.24:
            self.write(f"/srv/units/{file_name}", HEAD + self.assignments())
            self.link(f"{folder}/{file_name}", f"/srv/units/{file_name}")
        elif fate < 0.4 and not unit.is_instance:
            self.link(f"{folder}/{asked}", self.random.choice(["real-one.service", f"{FOLDERS[3]}/real-one.service"]))
            self.write(f"{FOLDERS[3]}/real-one.service", HEAD + "ExecStart=/bin/one\n")
            self.write(f"{FOLDERS[0]}/real-one.service.d/30-r.conf", self.assignments())
            if folder != FOLDERS[3]:
                self.write(f"{folder}/real-one.service", HEAD + "ExecStart=/bin/two\n")
            return self.random.choice([asked, "real-one.service"])
        for place in FOLDERS:
            if self.random.random() < 0.5:
                self.write(f"{place}/{file_name}", HEAD + self.assignments())
            for stem in [*unit.dropin_stems(), "service", "other.service"]:
                for conf in ("10-a.conf", "20-b.conf", "9-c.conf", ".hidden.conf", "no-conf"):
                    if self.random.random() < 0.12:
                        self.write(f"{place}/{stem}.d/{conf}", self.assignments())
                    elif self.random.random() < 0.03:
                        self.link(f"{place}/{stem}.d/{conf}", self.random.choice(["/dev/null", "/srv/nowhere.conf"]))
        if self.random.random() < 0.2:
            self.link(f"{FOLDERS[0]}/{unit.prefix}-alias{'@' if unit.is_instance else ''}.service", file_name)
            self.write(
                f"{FOLDERS[1]}/{unit.prefix}-alias{'@' if unit.is_instance else ''}.service.d/15-z.conf",
                self.assignments(),
            )
        return asked


def ours(root: HostRoot, unit: str) -> tuple[Loaded, Settings | None]:
    """Read a unit as the collector does, in the terms of what systemd prints."""
    folders = [folder for folder in search_path(root, None) if folder in FOLDERS]
    try:
        files = UnitFinder(root, folders).find(UnitName.parse(unit))
    except Absent:
        return Loaded(state="absent"), None
    if files.masked:
        return Loaded(state="masked"), None
    loaded = Loaded("loaded", str(files.name), files.fragment, list(files.dropins))
    paths = [path for path in (files.fragment, *files.dropins) if not is_null_link(root, path) and root.exists(path)]
    assignments = [item for path in paths for item in parse(root.read(path), path).assignments]
    settings = settle(assignments, ("Unit", "Install", "Service"), Specifiers(root, files, None))
    if isinstance(settings.commands, list):
        loaded.commands = [" ".join(quoted(word) for word in command) for command in settings.commands]
    if isinstance(settings.environment_files, list):
        loaded.environment_files = settings.environment_files
    if isinstance(settings.environment, dict):
        loaded.environment = {n: v for n, v in settings.environment.items() if isinstance(v, str)}
    return loaded, settings


def forget_undecided(mine: Loaded, theirs: Loaded, settings: Settings | None) -> list[str]:
    """Leave out of both readings what ours holds to be undecided; give its names."""
    undecided: list[str] = []
    if settings is None:
        return undecided
    if settings.refused or isinstance(settings.environment, LookError):
        mine.environment = theirs.environment = {}
        undecided.append("environment")
    else:
        undecided += [name for name, value in settings.environment.items() if isinstance(value, LookError)]
        theirs.environment = {n: v for n, v in theirs.environment.items() if n not in undecided}
    if settings.refused or isinstance(settings.commands, LookError):
        mine.commands, theirs.commands = [], []
        undecided.append("commands")
    if settings.refused or isinstance(settings.environment_files, LookError):
        mine.environment_files, theirs.environment_files = [], []
        undecided.append("environment files")
    return undecided


def compare(seed: int, tree: Path) -> tuple[Loaded, Loaded, list[str]]:
    for folder in FOLDERS:
        Path(f"{tree}{folder}").mkdir(parents=True)
    unit = Trees(seed, tree).grow()
    root = HostRoot(str(tree))
    theirs = ask_systemd(tree, [folder for folder in search_path(root, None) if folder in FOLDERS], unit)
    mine, settings = ours(root, unit)
    undecided = forget_undecided(mine, theirs, settings)
    if theirs.state == "bad" and undecided:
        theirs = mine
    return mine, theirs, undecided


def test_generated_trees_load_as_in_systemd(tmp_path: Path) -> None:
    """Fragments, aliases, masks, drop-ins, reset lists, quotes, specifiers, continued lines."""
    states: Counter[str] = Counter()
    undecided = 0
    for seed in range(TREES):
        mine, theirs, open_questions = compare(seed, tmp_path / str(seed))
        assert mine == theirs, f"tree {seed}"
        states[mine.state] += 1
        undecided += bool(open_questions)
    assert states["loaded"] > TREES * 0.6
    assert states["masked"] >= 5
    assert states["absent"] >= 3
    assert undecided < TREES * 0.2


def system_paths(*arguments: str, **environment: str) -> list[str]:
    tool = shutil.which("systemd-analyze")
    assert tool, "systemd-analyze is needed: units are compared with systemd's own reading"
    answer = subprocess.run(
        [tool, *arguments, "unit-paths"], env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, check=True
    )
    return answer.stdout.decode().split()


def test_the_search_path_is_systemds_own() -> None:
    assert list(SYSTEM_PATH) == system_paths("--system")


def test_the_search_path_of_users_is_systemds_own() -> None:
    theirs = system_paths("--user", HOME="/home/x", XDG_RUNTIME_DIR="/run/user/7")
    ours = [pattern.format(home="/home/x", runtime="/run/user/7") for pattern in USER_PATH]
    assert [folder for folder in ours if folder in theirs] == theirs
    # Only a running manager has these.
    assert {folder.rpartition("/")[2] for folder in ours if folder not in theirs} <= {
        "generator.early", "generator", "generator.late", "transient"
    }  # fmt: skip


def test_specifiers_have_the_values_of_systemd(tmp_path: Path) -> None:
    """Of this machine: those that are told from its files."""
    folder = tmp_path / FOLDERS[0].strip("/")
    folder.mkdir(parents=True)
    letters = "nNpPiIjJfyYuUgGhCELSTVtmbHlva"
    lines = [f"Environment=S_{letter}=%{letter}" for letter in letters]
    unit = "spec-a\\x2db-c@in\\x20st-ance.service"
    (folder / "spec-a\\x2db-c@.service").write_text(HEAD + "\n".join(lines) + "\n")
    theirs = ask_systemd(tmp_path, [FOLDERS[0]], unit)
    files = UnitFinder(HostRoot(str(tmp_path)), [FOLDERS[0]]).find(UnitName.parse(unit))
    specifiers = Specifiers(HostRoot(), files, None)
    mine = {f"S_{letter}": specifiers.expand(f"%{letter}") for letter in letters}
    assert mine == theirs.environment
