"""Starting a machine's service anew over the bytes as they now lie.

After a file was changed, a process that started before can't speak for it; a
restart keeps ids and everything else, and moves the start behind the change.
What the service writes itself is written again, as it stands.
"""

from __future__ import annotations

import re
from pathlib import Path

from pinproof.replica import clock, engine, engine_log, hosts, proc, site, systemd
from pinproof.replica.clock import Start
from pinproof.replica.journal import Journal
from pinproof.replica.tree import Tree

_STARTED = re.compile(r'("StartedAt":")[^"]*(")')
_EMITTED = re.compile(r'("emitted_at": ")[^"]*(")')
_SINCE = re.compile(r"start_time=\[(?!n/a)[^\]]*\]")
_BTIME = re.compile(r"^btime (\d+)$", re.MULTILINE)


def boot_time(journal: Journal) -> int:
    """Give the machine's boot in seconds since the epoch, as its kernel tells it."""
    match = _BTIME.search(journal.text("/proc/stat"))
    if match is None:
        raise LookupError("/proc/stat: no btime")
    return int(match.group(1))


def restart(root: Path, host: str, journal: Journal | None = None) -> Start | None:
    """Start the machine's service anew, now. Gives the start; None on a machine without a service.

    With a journal the changes can be taken back with the others in it.
    """
    changes = journal or Journal(Tree(root / host))
    if host == site.COORDINATOR.name:
        return None
    start = Start.at(clock.next_start(), boot_time(changes))
    for pid in service_processes(changes):
        _restamp_process(changes, pid, start)
    if hosts.rank_named(host) is not None:
        _restamp_engine(changes, start)
    else:
        since = systemd.spelled_time(start)
        _replace(changes, systemd.show_path(site.WORKER_UNIT), _SINCE, f"start_time=[{since}]")
    clock.wait_past(start.seconds)
    _write_again(changes, host, start)
    return start


def service_processes(journal: Journal) -> list[int]:
    """Give the ids of the processes that a start of the service brings."""
    known = {process.pid for process in proc.host_processes(1 << 40, driver=True)}
    ids = [int(name) for name in journal.names("/proc") if name.isdecimal()]
    return sorted(pid for pid in ids if pid not in known)


def _restamp_process(journal: Journal, pid: int, start: Start) -> None:
    path = f"/proc/{pid}/stat"
    head, name, tail = journal.text(path).rpartition(") ")
    fields = tail.split(" ")
    fields[19] = str(start.ticks)  # the 22nd of all; two stand before the name's end
    journal.write(path, head + name + " ".join(fields))


def _restamp_engine(journal: Journal, start: Start) -> None:
    started = start.engine_ns()
    _replace(journal, engine.answer_path(engine.INSPECT), _STARTED, rf"\g<1>{clock.nanosecond_time(started)}\g<2>")
    new = engine.answer_path(engine.log_request(started))
    for log in hosts.find_logs(journal.tree):
        old = f"{engine.SOCKET}/{log.name}"
        if old != new:
            journal.rename(old, new)
        journal.write(new, engine_log.stream(engine_log.texts(journal.read(new)), started))


def _write_again(journal: Journal, host: str, start: Start) -> None:
    if host == site.X86HOST.name:
        journal.write(site.WORKER_STATUS, journal.read(site.WORKER_STATUS))
    elif journal.exists(site.EMISSION):
        emitted = clock.iso(start.seconds + 0.008)
        journal.write(site.EMISSION, _EMITTED.sub(rf"\g<1>{emitted}\g<2>", journal.text(site.EMISSION), count=1))


def _replace(journal: Journal, path: str, pattern: re.Pattern[str], replacement: str) -> None:
    if journal.exists(path):
        journal.write(path, pattern.sub(replacement, journal.text(path), count=1))
