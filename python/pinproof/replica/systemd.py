"""Units of the replica's machines: their files, and the recorded answers of systemctl."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from pinproof.replica import site
from pinproof.replica.clock import Start
from pinproof.replica.content import sha256
from pinproof.replica.nvidia import answer_path
from pinproof.replica.tree import Tree

UNITS = "/etc/systemd/system"
CLOCK_CAP = "dsv41-clock-cap.service"
WORKER_DROPIN = f"{UNITS}/{site.WORKER_UNIT}.d/10-gpus.conf"

# What a look asks for. systemctl answers in an order of its own.
PROPERTIES = (
    "Id,LoadState,ActiveState,SubState,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload,"
    "MainPID,NRestarts,InvocationID,ExecStart,Environment"
)

_CLOCK_CAP_FILE = """\
[Unit]
Description=Keep the GPU's clock at 2150 MHz or below
After=nvidia-persistenced.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStartPre=/usr/bin/nvidia-smi --persistence-mode=1
ExecStart=/usr/bin/nvidia-smi --lock-gpu-clocks=0,2150

[Install]
WantedBy=multi-user.target
"""

_WORKER_FILE = f"""\
[Unit]
Description=DSpark remote drafter, tensor parallel 2
Documentation=file:{site.WORKER_HOME}/current/README.md
After=network-online.target nvidia-persistenced.service
Wants=network-online.target

[Service]
Type=simple
User={site.OPERATOR}
WorkingDirectory=/var/lib/dspark-worker
Environment=CUDA_MODULE_LOADING=LAZY DSPARK_LOG=info
# The listener is on the address that the ranks are told.
ExecStart={site.WORKER_PROGRAM} \\
    --tensor-parallel-size 2 --max-model-len 1048576 \\
    --checkpoint /srv/dspark/original --adapters /srv/dspark/adapters \\
    --listen {site.ENDPOINT}
Restart=on-failure
RestartSec=5
LimitMEMLOCK=infinity

[Install]
WantedBy=multi-user.target
"""

_WORKER_DROPIN_FILE = f"""\
# The pair that the NVLink bridge joins.
[Service]
Environment="CUDA_VISIBLE_DEVICES={",".join(site.WORKER_GPUS)}"
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A unit as systemd has loaded it. `since` is the time of its start as systemctl prints it."""

    name: str
    dropins: tuple[str, ...]
    program: str
    arguments: tuple[str, ...]
    environment: tuple[str, ...]
    sub_state: str
    pid: int
    invocation: str
    since: str = "n/a"


def write_clock_cap(tree: Tree, name: str) -> None:
    """Write the unit that caps the clock, and what systemctl tells of it: started at boot, long done."""
    _write_unit(tree, CLOCK_CAP, _CLOCK_CAP_FILE)
    program = "/usr/bin/nvidia-smi"
    arguments = ("--lock-gpu-clocks=0,2150",)
    invocation = sha256(f"{name} {CLOCK_CAP}")[:32]
    record(tree, Loaded(CLOCK_CAP, (), program, arguments, (), "exited", 0, invocation))


def write_worker_unit(tree: Tree) -> None:
    """Write the worker's unit and its drop-in."""
    _write_unit(tree, site.WORKER_UNIT, _WORKER_FILE)
    tree.write(WORKER_DROPIN, _WORKER_DROPIN_FILE)


def _write_unit(tree: Tree, name: str, text: str) -> None:
    tree.write(f"{UNITS}/{name}", text)
    tree.link(f"{UNITS}/multi-user.target.wants/{name}", f"{UNITS}/{name}")


def record_worker(tree: Tree, pid: int, invocation: str, since: str) -> None:
    """Record what systemctl tells of the running worker."""
    environment = (
        "CUDA_MODULE_LOADING=LAZY",
        "DSPARK_LOG=info",
        f"CUDA_VISIBLE_DEVICES={','.join(site.WORKER_GPUS)}",
    )
    arguments = tuple(site.words(site.WORKER_ARGUMENTS))
    dropins = (WORKER_DROPIN,)
    record(
        tree,
        Loaded(
            site.WORKER_UNIT, dropins, site.WORKER_PROGRAM, arguments, environment, "running", pid, invocation, since
        ),
    )
    line = f"{site.WORKER_UNIT} loaded active running DSpark remote drafter, tensor parallel 2\n"
    tree.write(list_path("dspark-*"), line)


def spelled_time(start: Start) -> str:
    """Spell a start as systemctl does, to the second."""
    moment = datetime.datetime.fromtimestamp(start.hundredths // 100, datetime.UTC)
    return moment.strftime("%a %Y-%m-%d %H:%M:%S UTC")


def record(tree: Tree, unit: Loaded) -> None:
    """Record the answer of `systemctl show`."""
    tree.write(show_path(unit.name), show(unit))


def show_path(name: str) -> str:
    """Give the path of the recorded answer about one unit."""
    return answer_path(f"show --no-pager -p {PROPERTIES} -- {name}", "systemctl")


def list_path(pattern: str) -> str:
    """Give the path of the recorded list of active units."""
    arguments = f"list-units --no-pager --plain --no-legend --full --state=active --type=service -- {pattern}"
    return answer_path(arguments, "systemctl")


def show(unit: Loaded) -> str:
    """Give the answer of `systemctl show` about a unit."""
    command = " ".join([unit.program, *unit.arguments])
    code = "(null)" if unit.pid else "exited"
    execution = (
        f"{{ path={unit.program} ; argv[]={command} ; ignore_errors=no ; start_time=[{unit.since}] ; "
        f"stop_time=[n/a] ; pid={unit.pid} ; code={code} ; status=0/0 }}"
    )
    facts = {
        "MainPID": str(unit.pid),
        "NRestarts": "0",
        "ExecStart": execution,
        "Environment": " ".join(unit.environment),
        "Id": unit.name,
        "LoadState": "loaded",
        "ActiveState": "active",
        "SubState": unit.sub_state,
        "FragmentPath": f"{UNITS}/{unit.name}",
        "DropInPaths": " ".join(unit.dropins),
        "UnitFileState": "enabled",
        "NeedDaemonReload": "no",
        "InvocationID": unit.invocation,
    }
    return "".join(f"{name}={value}\n" for name, value in facts.items())
