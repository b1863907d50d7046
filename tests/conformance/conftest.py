"""Real things to measure against: a container engine of one's own."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Writes to both streams, one line longer than the engine's entries, and waits; `--title` also starts a
# child that writes a title over its arguments and environment, as servers do.
SLEEPER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    static char line[40001];
    setvbuf(stdout, 0, _IONBF, 0);
    puts("[k1] engaged pair=3");
    memset(line, 'x', 40000);
    printf("%s [dspark] engaged tokens=5\n", line);
    fputs("h:1:1 [0] NCCL INFO NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:10.0.0.1<0>\n", stderr);
    fputs("h:1:1 [0] NCCL INFO Using network IB\n", stderr);
    if (argc > 1 && strcmp(argv[argc - 1], "--title") == 0 && fork() == 0) {
        char *end = argv[argc - 1], **item;
        for (item = environ; *item; item++) end = *item;
        end += strlen(end);
        memset(argv[0], 0, end - argv[0]);
        strcpy(argv[0], "VLLM::EngineCore");
    }
    for (;;) pause();
}
"""


@dataclasses.dataclass(frozen=True)
class DockerEngine:
    """A running engine that holds the image `demo:v5`, whose program is `/bin/sleeper`."""

    folder: Path
    socket: str

    def docker(self, *arguments: str, given: bytes | None = None) -> str:
        """Run the engine's client and give what it prints."""
        done = subprocess.run(
            ["docker", "-H", f"unix://{self.socket}", *arguments], input=given, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def lines_written(self, name: str) -> int:
        """Count the whole lines that a container has written to both streams; a long one comes in parts."""
        command = ["docker", "-H", f"unix://{self.socket}", "logs", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        return done.stdout.count(b"\n")

    def run(self, name: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
        """Start a container of the image and give its id."""
        return self.docker("run", "-d", "--network", "none", "--name", name, *options, "demo:v5", *arguments)

    def load(self, tag: str, *changes: str) -> str:
        """Import the sleeper's tree as an image and give the image's id."""
        options = [item for change in changes for item in ("--change", change)]
        return self.docker("import", *options, "-", tag, given=(self.folder / "root.tar").read_bytes())


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerEngine]:
    """Start an engine whose files and socket all lie in a folder of its own; everything is gone afterwards."""
    missing = [tool for tool in ("dockerd", "docker", "gcc") if shutil.which(tool) is None]
    if missing or os.getuid() != 0:
        pytest.fail(f"needs root and {', '.join(missing) or 'nothing else'}: apt-get install docker.io gcc libc6-dev")
    # Short, and not pytest's own: a socket's path has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="pp-docker-"))
    log = (folder / "log").open("wb")
    command = [
        "dockerd",
        "--iptables=false",
        "--bridge=none",
        "--storage-driver=vfs",
        "-H",
        f"unix://{folder}/docker.sock",
    ]
    command += [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
    daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    engine = DockerEngine(folder, f"{folder}/docker.sock")
    try:
        _wait(engine, daemon)
        _build(folder)
        engine.load("demo:v5", "ENV BAKED=1", "LABEL origin=test")
        yield engine
    finally:
        _end(engine, daemon)
        log.close()


def _wait(engine: DockerEngine, daemon: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if daemon.poll() is not None:
            pytest.fail("dockerd does not start: " + (engine.folder / "log").read_text()[-2000:])
        with contextlib.suppress(AssertionError):
            engine.docker("version")
            return
        time.sleep(0.05)
    pytest.fail("dockerd does not answer: " + (engine.folder / "log").read_text()[-2000:])


def _build(folder: Path) -> None:
    source, program = folder / "sleeper.c", folder / "sleeper"
    source.write_text(SLEEPER)
    subprocess.run(["gcc", "-static", "-O1", "-w", "-o", program, source], check=True)
    with tarfile.open(folder / "root.tar", "w") as tree:
        tree.add(program, "bin/sleeper")
        for name in ("etc", "opt/engine", "tmp"):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tree.addfile(entry)
        entry = tarfile.TarInfo("opt/engine/core.py")
        entry.size = 4
        tree.addfile(entry, io.BytesIO(b"core"))


def _end(engine: DockerEngine, daemon: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(AssertionError):
        running = engine.docker("ps", "-aq").split()
        if running:
            engine.docker("rm", "-f", *running)
    daemon.terminate()
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for point in reversed(mounted):
        if point.startswith(f"{engine.folder}/"):
            subprocess.run(["umount", "-l", point], check=False)
    shutil.rmtree(engine.folder, ignore_errors=True)
