"""The client of a container engine: over a socket, and over recorded answers."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugins.module_utils._engine import Engine, is_container_name, is_image_reference, recorded_name
from plugins.module_utils._observation import (
    Absent,
    Denied,
    LookError,
    NotAttempted,
    NoTool,
    Timeout,
    Unparsable,
)
from plugins.module_utils._root import HostRoot


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    # A socket's path has at most 107 characters: pytest's own folders are too deep.
    with tempfile.TemporaryDirectory(prefix="pp") as name:
        yield Path(name)


class Listener:
    """Answers every connection with the same bytes, or with what a function does with it."""

    def __init__(self, path: Path, answer: bytes | Callable[[socket.socket], None]) -> None:
        self.requests: list[bytes] = []
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen(8)
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    self.requests.append(connection.recv(65536))
                    if callable(self._answer):
                        self._answer(connection)
                    else:
                        connection.sendall(self._answer)

    def close(self) -> None:
        self._socket.close()


def answer(body: bytes, status: str = "200 OK", head: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status.encode(), len(body), head, body)


@contextlib.contextmanager
def listening(folder: Path, what: bytes | Callable[[socket.socket], None]) -> Iterator[Listener]:
    listener = Listener(folder / "s", what)
    try:
        yield listener
    finally:
        listener.close()


def engine(folder: Path, root: HostRoot | None = None) -> Engine:
    return Engine(root or HostRoot(), str(folder / "s"))


# -- over a socket ---------------------------------------------------------
def test_sends_one_get_and_nothing_else(folder: Path) -> None:
    with listening(folder, answer(b'{"Driver": "vfs"}')) as listener:
        root = HostRoot()
        assert engine(folder, root).object("/info") == {"Driver": "vfs"}
    assert listener.requests == [b"GET /info HTTP/1.1\r\nHost: engine\r\nAccept: */*\r\nConnection: close\r\n\r\n"]
    assert root.touched[-1] == f"GET /info over {folder}/s"


def test_reads_chunks(folder: Path) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n3\r\n 2]\r\n0\r\n\r\n"
    with listening(folder, chunked):
        assert engine(folder).json("/containers/json") == [1, 2]


@pytest.mark.parametrize(
    ("status", "body", "error", "why"),
    [
        ("404 Not Found", b'{"message":"No such container: x"}', Absent, "^No such container: x$"),
        ("404 Not Found", b'{"message":"page not found"}', Unparsable, "404 .page not found"),
        ("404 Not Found", b"", Unparsable, "404 .no reason"),
        ("400 Bad Request", b'{"message":"client version 1.24 is too old"}', Unparsable, "400 .client version 1.24"),
        ("403 Forbidden", b'{"message":"plugin says no"}', Unparsable, "403 .plugin says no"),
        ("500 Internal Server Error", b'{"message":"database\\nis locked"}', Unparsable, "500 .database is locked"),
        ("301 Moved Permanently", b"<a>elsewhere</a>", Unparsable, "301"),
        ("200 OK", b"not JSON", Unparsable, "not JSON"),
        ("200 OK", b"\xff", Unparsable, "not JSON"),
        ("200 OK", b"[]", Unparsable, "not a JSON object"),
        ("200 OK", b'{"a": NaN}', Unparsable, "not JSON"),
    ],
)
def test_refusals_and_bodies(folder: Path, status: str, body: bytes, error: type[LookError], why: str) -> None:
    with listening(folder, answer(body, status)), pytest.raises(error, match=why):
        engine(folder).object("/containers/x/json")


def test_what_is_no_engine_is_unparsable(folder: Path) -> None:
    with listening(folder, b"220 mail ESMTP\r\n"), pytest.raises(Unparsable, match=r"GET /info over .*does not speak"):
        engine(folder).object("/info")


def test_an_answer_that_breaks_off_is_unparsable(folder: Path) -> None:
    with listening(folder, answer(b"{}" * 100)[:-50]), pytest.raises(Unparsable, match=r"ends early"):
        engine(folder).object("/info")


def test_silence_is_a_timeout_that_names_the_request(folder: Path) -> None:
    root = HostRoot()
    root.end = time.monotonic() + 0.4
    with listening(folder, lambda _: time.sleep(3)), pytest.raises(Timeout, match=r"GET /info over"):
        engine(folder, root).object("/info")


def test_dripping_does_not_outlast_the_deadline(folder: Path) -> None:
    def drip(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for _ in range(100):
                connection.sendall(b"A: 1\r\n")
                time.sleep(0.05)

    root = HostRoot()
    root.end = time.monotonic() + 0.5
    begin = time.monotonic()
    with listening(folder, drip), pytest.raises(Timeout):
        engine(folder, root).object("/info")
    assert time.monotonic() - begin < 1.5


def test_an_engine_that_does_not_accept_is_a_timeout(folder: Path) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "s"))
    server.listen(0)
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    for item in waiting:
        item.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            item.connect(str(folder / "s"))
    root = HostRoot()
    root.end = time.monotonic() + 0.4
    with pytest.raises(Timeout):
        engine(folder, root).object("/info")
    for item in [server, *waiting]:
        item.close()


def test_no_socket_and_nobody_behind_it_are_no_tool(folder: Path) -> None:
    with pytest.raises(NoTool, match=r"no container engine listens"):
        engine(folder)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "s"))
    server.close()
    with pytest.raises(NoTool, match=r"no container engine listens"):
        engine(folder).object("/info")
    (folder / "s").unlink()
    (folder / "s").write_text("a file")
    with pytest.raises(NoTool):
        engine(folder).object("/info")


def test_a_socket_that_may_not_be_used_is_denied(folder: Path) -> None:
    folder.chmod(0o755)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "s"))
    server.listen(1)
    (folder / "s").chmod(0o600)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        try:
            engine(folder).object("/info")
        except Denied as error:
            os.write(writer, error.why.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        assert b"member of the engine's group, or become" in told.read()
    os.waitpid(child, 0)
    server.close()


def test_lane_that_admits_files_only(folder: Path) -> None:
    with pytest.raises(NotAttempted, match=r"files only"):
        engine(folder, HostRoot(lane="files"))


# -- what may be asked -----------------------------------------------------
@pytest.mark.parametrize(
    "path",
    [
        "/containers/x/archive?path=/",
        "/containers/x/json?size=1",
        "/containers/x/export",
        "/containers/x/attach",
        "/containers/x/logs?follow=1",
        "/containers/x/logs?stdout=1&stderr=1&timestamps=1&since=1&tail=all",
        "/containers/../info",
        "/containers/x/json\r\nX: y",
        "/images/json",
        "/images/x/get",
        "/images/../containers/x/export/json",
        "/images/x//json",
        "/images/x/json?y",
        "/v1.41/info",
        "/events",
        "/info/",
        "http://h/info",
        "",
    ],
)
def test_other_requests_are_a_mistake_of_ours(folder: Path, path: str) -> None:
    with listening(folder, answer(b"{}")) as listener:
        with pytest.raises(ValueError, match=r"not one of our requests"):
            engine(folder).bytes(path)
        assert listener.requests == []


@given(st.text(max_size=60))
def test_names_that_pass_can_not_leave_their_place_in_the_path(text: str) -> None:
    if is_container_name(text):
        assert re.fullmatch(r"[\w.-]+", text, re.ASCII)
        assert text not in (".", "..")
    if is_image_reference(text):
        assert re.fullmatch(r"[\w./:@-]+", text, re.ASCII)
        assert not {"", ".", ".."} & set(text.split("/"))


@pytest.mark.parametrize(
    "reference",
    ["demo", "demo:v5", "registry.example:5000/a/b:v1", "a/b@sha256:" + "0" * 64, "sha256:" + "0" * 64, "0" * 64],
)
def test_references_that_can_be_asked_for(reference: str) -> None:
    assert is_image_reference(reference)


# -- recorded answers ------------------------------------------------------
def record(tree: Path, path: str, body: bytes, status: int | None = None) -> None:
    folder = tree / "run/docker.sock"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / recorded_name(path)).write_bytes(body)
    if status is not None:
        (folder / (recorded_name(path) + ".status")).write_text(f"{status}\n")


def test_recorded_answers(tmp_path: Path) -> None:
    record(tmp_path, "/info", b'{"Driver": "overlay2"}')
    record(tmp_path, "/containers/x/json", b'{"message":"No such container: x"}', 404)
    record(tmp_path, "/containers/y/json", b'{"message":"broken"}', 500)
    found = Engine(HostRoot(str(tmp_path), recorded=True))
    assert found.socket == "/run/docker.sock"
    assert (tmp_path / "run/docker.sock/%2Finfo").exists()
    assert found.object("/info")["Driver"] == "overlay2"
    with pytest.raises(Absent, match=r"^No such container: x$"):
        found.object("/containers/x/json")
    with pytest.raises(Absent, match=r"/containers/z/json"):
        found.object("/containers/z/json")
    with pytest.raises(Unparsable, match=r"500 .broken"):
        found.object("/containers/y/json")
    record(tmp_path, "/containers/y/json", b"{}", None)
    (tmp_path / "run/docker.sock" / (recorded_name("/containers/y/json") + ".status")).write_text("fine")
    with pytest.raises(Unparsable, match=r"not a number"):
        found.object("/containers/y/json")


def test_recorded_socket_elsewhere_and_nowhere(tmp_path: Path) -> None:
    root = HostRoot(str(tmp_path), recorded=True)
    with pytest.raises(NoTool, match=r"/run/docker.sock"):
        Engine(root)
    record(tmp_path, "/info", b"{}")
    (tmp_path / "run").rename(tmp_path / "varrun")
    (tmp_path / "var").mkdir()
    (tmp_path / "varrun").rename(tmp_path / "var/run")
    assert Engine(root).socket == "/var/run/docker.sock"
    with pytest.raises(NoTool, match=r"/run/user/1000/docker.sock"):
        Engine(root, "/run/user/1000/docker.sock")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_recorded_names_are_single_file_names(path: str) -> None:
    name = recorded_name("/" + path)
    assert "/" not in name
    assert name.isascii()
