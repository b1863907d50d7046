# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a container engine (Docker, or Podman's compatible service) over its socket.

This module util is private to the collectors. Only GET is sent, and only for
the paths listed here: other GETs of the same interface mount volumes, stream
without end or cost minutes. Paths carry no version: engines refuse versions
they have outgrown. In a replica the socket is a folder that holds one file an
answer, named by the quoted request, with `.status` beside it where it is not 200.
"""

from __future__ import annotations

import contextlib
import errno
import re
import socket as socket_module
import time
import typing as t
import urllib.parse

from ._http import Response, read_response
from ._observation import Absent, Denied, LookError, NoTool, Timeout, Unparsable, from_oserror
from ._root import HostRoot
from ._strict_json import loads

SOCKETS = ("/run/docker.sock", "/var/run/docker.sock")
DEADLINE_S = 6.0
BODY_LIMIT = 16 << 20
_OUT_OF_TIME = socket_module.timeout  # before Python 3.10 this is no TimeoutError

_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_REFERENCE = r"[A-Za-z0-9][A-Za-z0-9_.:@-]*(?:/[A-Za-z0-9][A-Za-z0-9_.:@-]*)*"
_ALLOWED = tuple(
    re.compile(pattern)
    for pattern in (
        r"/info",
        r"/containers/json",
        r"/containers/%s/json" % _NAME,
        r"/containers/%s/changes" % _NAME,
        r"/containers/%s/logs\?stdout=1&stderr=1&timestamps=1&since=[0-9]+&tail=[0-9]+" % _NAME,
        r"/images/%s/json" % _REFERENCE,
    )
)


def is_container_name(name: str) -> bool:
    """Say whether an engine can know a container by this name."""
    return re.fullmatch(_NAME, name) is not None


def is_image_reference(reference: str) -> bool:
    """Say whether an engine can be asked for an image by this text."""
    return re.fullmatch(_REFERENCE, reference) is not None


class Engine:
    """The engine behind one socket. Every failure of a request is a LookError that names request and socket."""

    def __init__(self, root: HostRoot, socket: str = "") -> None:
        root.need_full_lane("the container engine")
        self._root = root
        self.socket = self._find(root.expand(socket)) if socket else self._default()

    def _default(self) -> str:
        for path in SOCKETS:
            if self._root.exists(path):
                return path
        raise NoTool("%s: no container engine listens there" % SOCKETS[0])

    def _find(self, path: str) -> str:
        if not self._root.exists(path):
            raise NoTool("%s: no container engine listens there" % path)
        return path

    def json(self, path: str) -> t.Any:
        """Give the JSON value that answers this GET."""
        body = self.bytes(path)
        try:
            return loads(body.decode("utf-8"))
        except ValueError as error:
            raise Unparsable("%s: not JSON (%s)" % (self._name(path), str(error)[:120])) from None

    def object(self, path: str) -> dict[str, t.Any]:
        """Give the JSON object that answers this GET."""
        value = self.json(path)
        if not isinstance(value, dict):
            raise Unparsable("%s: not a JSON object" % self._name(path))
        return value

    def bytes(self, path: str) -> bytes:
        """Give the body that answers this GET.

        Raises Absent where the engine knows no such thing, Denied, NoTool,
        Timeout, Unparsable for everything else it may answer; ValueError for a
        path that is not on the list, which is a mistake in this program.
        """
        if not any(pattern.fullmatch(path) for pattern in _ALLOWED):
            raise ValueError("not one of our requests: %s" % path)
        self._root.touched.append("GET %s over %s" % (path, self.socket))
        response = self._recorded(path) if self._root.recorded else self._asked(path)
        if response.status == 200:
            return response.body
        raise self._refusal(path, response)

    def _name(self, path: str) -> str:
        return "GET %s over %s" % (path.partition("?")[0], self.socket)

    def _refusal(self, path: str, response: Response) -> LookError:
        said = _message(response.body)
        # "page not found" is what a server says of a request it does not know: no evidence of anything.
        if response.status == 404 and said and "page not found" not in said.lower():
            return Absent(said)
        return Unparsable("%s: the engine answers %d (%s)" % (self._name(path), response.status, said or "no reason"))

    # -- a replica's recorded answers -------------------------------------
    def _recorded(self, path: str) -> Response:
        name = "%s/%s" % (self.socket, recorded_name(path))
        try:
            body = self._root.read(name, BODY_LIMIT)
        except Absent:
            return Response(404, {}, ('{"message":"No such thing: %s"}' % path.partition("?")[0]).encode("ascii"))
        try:
            status = int(self._root.read(name + ".status").decode("ascii", "replace").strip())
        except Absent:
            status = 200
        except ValueError:
            raise Unparsable("%s.status: not a number" % name) from None
        return Response(status, {}, body)

    # -- a real socket ----------------------------------------------------
    def _asked(self, path: str) -> Response:
        end = time.monotonic() + self._root.time_left(DEADLINE_S)
        connection = socket_module.socket(socket_module.AF_UNIX, socket_module.SOCK_STREAM)
        try:
            self._connect(connection, end)
            request = "GET %s HTTP/1.1\r\nHost: engine\r\nAccept: */*\r\nConnection: close\r\n\r\n" % path
            connection.settimeout(_left(end))
            connection.sendall(request.encode("ascii"))
            return read_response(lambda: _receive(connection, end), BODY_LIMIT)
        except _OUT_OF_TIME:
            raise Timeout("%s: no answer within the deadline" % self._name(path)) from None
        except OSError as error:
            raise Unparsable("%s: %s" % (self._name(path), error.strerror or "the connection broke")) from None
        except Unparsable as error:
            raise Unparsable("%s: %s" % (self._name(path), error.why)) from None
        finally:
            connection.close()

    def _connect(self, connection: socket_module.socket, end: float) -> None:
        real = self._root.real(self.socket)
        while True:
            connection.settimeout(_left(end))
            try:
                connection.connect(real)
            except BlockingIOError:
                # The engine's queue is full: it does not accept, and may be hung.
                time.sleep(min(0.05, _left(end)))
            except OSError as error:
                raise self._unreachable(error) from None
            else:
                return

    def _unreachable(self, error: OSError) -> BaseException:
        if isinstance(error, _OUT_OF_TIME):
            return error
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTSOCK):
            return NoTool("%s: no container engine listens there" % self.socket)
        if error.errno in (errno.EACCES, errno.EPERM):
            return Denied("%s: permission denied; it needs a member of the engine's group, or become" % self.socket)
        return from_oserror(error, self.socket)


def recorded_name(path: str) -> str:
    """Give the file name under which the answer to this GET is recorded."""
    return urllib.parse.quote(path, safe="")


def _left(end: float) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise _OUT_OF_TIME("out of time")
    return left


def _receive(connection: socket_module.socket, end: float) -> bytes:
    connection.settimeout(_left(end))
    return connection.recv(1 << 16)


def _message(body: bytes) -> str:
    """Give the engine's own words in one line."""
    words = body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        value = loads(words)
        words = str(value.get("message") or "") if isinstance(value, dict) else words
    return " ".join(words.split())[:300]


__all__ = ["BODY_LIMIT", "DEADLINE_S", "SOCKETS", "Engine", "is_container_name", "is_image_reference", "recorded_name"]
