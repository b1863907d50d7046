"""The other dialects against what reads them: systemd's own reader of such files, and the container client."""

from __future__ import annotations

import http.server
import json
import random
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugins.module_utils._env_file import parse, settings, unlisted

# It reads files of the same format by the same code, and prints what they set.
GENERATOR = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
NAMES = ("A", "B", "C", "D")
ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "\r"}


def random_text(seed: int, alphabet: list[str]) -> str:
    chooser = random.Random(seed)
    lines = []
    for _ in range(chooser.randint(1, 4)):
        value = "".join(chooser.choice(alphabet) for _ in range(chooser.randint(0, 5)))
        lines.append(chooser.choice(["", "", " ", "# ", "; ", "export "]) + chooser.choice(NAMES) + "=" + value)
    return "\n".join(lines) + chooser.choice(["", "\n"])


def by_systemd(text: str, folder: Path) -> dict[str, str]:
    """Give what systemd's reader makes of a text; it prints values quoted where they need it."""
    (folder / "environment.d").mkdir(parents=True, exist_ok=True)
    (folder / "environment.d/x.conf").write_bytes(text.encode())
    command = ["env", "-i", f"XDG_CONFIG_HOME={folder}", "HOME=/nonexistent", str(GENERATOR)]
    printed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    found = {}
    for line in printed.splitlines():
        name, _, value = line.partition("=")
        if name not in NAMES:
            continue
        if value.startswith('"'):
            value = value[1:-1]
            for escape, char in ESCAPES.items():
                value = value.replace(escape, char)
            value = "".join(part for part in value.replace("\\\\", "\0").replace("\\", "").replace("\0", "\\"))
        found[name] = value
    return found


def test_systemd_reads_the_same_values(tmp_path: Path) -> None:
    assert GENERATOR.exists(), "needs systemd's environment generator to compare with"
    # Without `$`, which only this generator expands, and without what it prints escaped twice.
    alphabet = ["a", "b c", " ", "'", '"', "\t", "#", ";", "=", "\\\n", '\\"', "\\ ", "é", "x y"]
    decided = 0
    for seed in range(180):
        text = random_text(seed, alphabet)
        theirs = by_systemd(text, tmp_path / str(seed))
        found = parse(text, "systemd")
        # An empty value is none at all for the generator: it keeps what stood before.
        if unlisted(found) or any(item.kind == "literal" and not item.value for item in found):
            continue
        ours = {name: setting["value"] for name, setting in settings(found).items() if "value" in setting}
        assert ours == theirs, text
        decided += len(ours)
    assert decided > 100


class Recorder(http.server.BaseHTTPRequestHandler):
    """Stands in for an engine: takes a request to create a container, and keeps its environment."""

    environment: list[str] | None = None

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Api-Version", "1.41")
        self.end_headers()

    def do_GET(self) -> None:
        self._answer(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        type(self).environment = body.get("Env") or []
        self._answer(500, {"message": "nothing is created here"})

    def _answer(self, code: int, data: dict[str, str]) -> None:
        text = json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments: object) -> None:
        pass

    def address_string(self) -> str:
        return "client"


@pytest.fixture(name="recorder")
def _recorder(tmp_path: Path) -> Iterator[Path]:
    assert shutil.which("docker"), "needs a container client to compare with"
    socket = tmp_path / "s"
    with socketserver.ThreadingUnixStreamServer(str(socket), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield socket
        server.shutdown()


def by_client(text: str, recorder: Path) -> list[str] | None:
    """Give the environment that the client sends for a file, or None where it refuses the file."""
    file = recorder.parent / "file.env"
    file.write_bytes(text.encode())
    Recorder.environment = None
    environment = {"DOCKER_HOST": f"unix://{recorder}", "HOME": "/nonexistent", "HOST": "of the host"}
    command = [shutil.which("docker") or "docker", "run", "--env-file", str(file), "image"]
    subprocess.run(command, capture_output=True, check=False, env=environment)
    return Recorder.environment


def test_the_container_client_sends_the_same_values(recorder: Path) -> None:
    for seed in range(12):
        lines = (
            random_text(seed, ["a", " ", "'", '"', "\t", "#", "\\", "$A", "é", "="])
            .replace("export ", "")
            .replace("; ", "")
        )
        sent = by_client(lines, recorder)
        found = parse(lines, "container")
        assert sent is not None, lines
        assert unlisted(found) == ""
        for name, setting in settings(found).items():
            mine = [item for item in sent if item.startswith(f"{name}=")]
            if "value" in setting:
                assert set(mine) == {f"{name}={setting['value']}"}, lines
            else:
                assert len(set(mine)) > 1, lines


@pytest.mark.parametrize("text", ["export A=1\n", "A =1\n", "=1\n", "A=1\nB C\n"])
def test_the_container_client_refuses_the_same_files(recorder: Path, text: str) -> None:
    assert by_client(text, recorder) is None
    assert unlisted(parse(text, "container")).endswith("makes the client refuse the whole file")


def test_a_name_alone_is_of_the_host(recorder: Path) -> None:
    assert by_client("HOST\nNOT_THERE\nA=1\r\n", recorder) == ["HOST=of the host", "A=1"]
    assert settings(parse("HOST\n", "container"))["HOST"] == {"kind": "undecidable", "overridable": True, "line": 1}
