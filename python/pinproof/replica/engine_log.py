"""The serving container's log since its start, as the engine sends it: frames of stdout and stderr.

A frame is the stream (1 stdout, 2 stderr), three zero bytes, the length as four
bytes, and one line with the engine's time before it. The replica's engine says
within milliseconds what a real one takes minutes for: nothing in the log may
lie in the future of a replica that was built just now.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from pinproof.replica.clock import nanosecond_time
from pinproof.replica.site import MASTER, Rank

STDOUT = 1
STDERR = 2
STEP_NS = 37_000

_LINES = (
    (STDERR, "INFO [api_server.py:1187] vLLM API server version 0.17.2.dev41+g5d1f2c9"),
    (STDERR, "INFO [config.py:412] Resolved architecture: DeepseekV41ForCausalLM"),
    (STDOUT, "[k1] manifest K1.sha256: 13 files"),
    (STDOUT, "[k1] engaged pair=3 drop_mtp=1 transient=1 alias=1 indexer_factor=4"),
    (STDOUT, "{nccl} NCCL INFO Bootstrap: Using enp1s0f1np1:{address}<0>"),
    (STDOUT, "{nccl} NCCL INFO cudaDriverVersion 13000"),
    (STDOUT, "{nccl} NCCL INFO NCCL version 2.28.7+cuda13.0"),
    (STDOUT, "{nccl} NCCL INFO NCCL_SOCKET_IFNAME set by environment to enp1s0f1np1"),
    (STDOUT, "{nccl} NCCL INFO NCCL_IB_HCA set to rocep1s0f1,roceP2p1s0f1"),
    (
        STDOUT,
        "{nccl} NCCL INFO NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; "
        "OOB enp1s0f1np1:{address}<0>",
    ),
    (STDOUT, "{nccl} NCCL INFO Using network IB"),
    (STDOUT, "{nccl} NCCL INFO Assigned NET plugin IB to comm"),
    (STDOUT, "{nccl} NCCL INFO NET/IB : GPU Direct RDMA (DMABUF) enabled for HCA 1 'roceP2p1s0f1'"),
    (STDOUT, "{nccl} NCCL INFO Channel 00/0 : {rank}[0] -> {other}[0] [send] via NET/IB/0"),
    (STDOUT, "{nccl} NCCL INFO Channel 01/0 : {rank}[0] -> {other}[0] [send] via NET/IB/1"),
    (STDERR, "INFO [exl3.py:88] ring on rocep1s0f1, {master} rank {rank} of 2"),
    (STDERR, "INFO [gpu_model_runner.py:3310] Model loading took 84.2191 GiB and 312.440017 seconds"),
    (STDERR, "INFO [kv_cache_utils.py:1087] GPU KV cache size: 2,502,600 tokens"),
    (STDERR, "INFO [kv_cache_utils.py:1091] Maximum concurrency for 327,680 tokens per request: 7.64x"),
    (STDOUT, "[engram] o1 shim ready, tables remote"),
    (STDOUT, "[engram] remote active: links=2 timeout_ms=100 retry_ms=5000"),
    (STDOUT, "[dspark] hello from worker: protocol 4"),
    (STDOUT, "[dspark] engaged tokens=5 schedule=1-2:5,3-4:4"),
    (STDOUT, "[throttle] engaged min=5 every=24"),
    (STDERR, "INFO [api_server.py:1502] Starting vLLM API server on http://0.0.0.0:8000"),
    (STDERR, "INFO:     Application startup complete."),
)

_TIME = re.compile(rb"\A(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) ")


def lines(rank: Rank, pid: int) -> list[tuple[int, str]]:
    """Give (stream, line) of a start without trouble."""
    terms = {
        "nccl": f"{rank.name}:{pid}:{pid + 79} [0]",
        "address": rank.fabric,
        "master": MASTER,
        "rank": rank.rank,
        "other": 1 - rank.rank,
    }
    return [(stream, text.format(**terms)) for stream, text in _LINES]


def stream(entries: list[tuple[int, str]], started_ns: int) -> bytes:
    """Give the whole stream; the first line comes right after the start."""
    parts = []
    for number, (kind, text) in enumerate(entries, 1):
        parts.append(frame(kind, f"{nanosecond_time(started_ns + number * STEP_NS)} {text}\n".encode()))
    return b"".join(parts)


def frame(kind: int, line: bytes) -> bytes:
    """Put one line into a frame."""
    return struct.pack(">B3xI", kind, len(line)) + line


def frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Take (stream, line) out of a stream."""
    position = 0
    while position + 8 <= len(data):
        kind, size = struct.unpack_from(">B3xI", data, position)
        yield kind, data[position + 8 : position + 8 + size]
        position += 8 + size


def texts(data: bytes) -> list[tuple[int, str]]:
    """Take (stream, line without time and newline) out of a stream."""
    return [(kind, _TIME.sub(b"", line).decode().rstrip("\n")) for kind, line in frames(data)]
