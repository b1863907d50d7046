# Copyright (c) 2026 the pinproof authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of each just-in-time cache is identity, what is volatile, and what carries paths.

This module util is private to the collectors. The rules are data, one set for
each kind of cache. A file that no rule knows counts as identity: a cache that
grows a new kind of file differs, and is never waved through.
"""

from __future__ import annotations

import dataclasses
import fnmatch

BEING_WRITTEN = "being written"
LOCK = "lock"
PATHS = "carries paths"
TIMES = "carries times"
INTERMEDIATE = "intermediate of a build"
LOG = "log"
PICKLE = "pickle, not written alike twice"
DRIVER = "the driver's own index and blobs"


@dataclasses.dataclass(frozen=True)
class CacheRules:
    """The rules of one kind of cache.

    A pattern is a glob over a file's own name; one that ends in a slash is a
    glob over the names of folders above it. `volatile` holds (pattern, reason),
    the first that fits counts. `paths` are files that spell where the cache or a
    tool lies. `identity` are the files that are known to be compared.
    `none_is_identity` is the reason why only presence can be told, or "".
    `default` says where the cache lies when nothing says so.
    """

    kind: str
    default: str
    identity: tuple[str, ...]
    volatile: tuple[tuple[str, str], ...]
    paths: tuple[str, ...] = ()
    none_is_identity: str = ""

    def reason(self, relative: str) -> str:
        """Say why the file at this relative path (as shown) is no identity, or "" where it is."""
        if self.none_is_identity:
            return DRIVER
        for pattern, reason in self.volatile:
            if _fits(pattern, relative):
                return reason
        return PATHS if any(_fits(pattern, relative) for pattern in self.paths) else ""

    def is_known(self, relative: str) -> bool:
        """Say whether a rule names the file as identity."""
        return any(_fits(pattern, relative) for pattern in self.identity)


def _fits(pattern: str, relative: str) -> bool:
    *folders, name = relative.split("/")
    if pattern.endswith("/"):
        return any(fnmatch.fnmatchcase(folder, pattern[:-1]) for folder in folders)
    # A file's rule must not take a folder of that name with everything in it.
    return fnmatch.fnmatchcase(name, pattern)


_TRITON_VOLATILE = (
    ("tmp.pid_*/", BEING_WRITTEN),
    ("*.tmp.pid_*", BEING_WRITTEN),
    ("lock", LOCK),
    ("*.lock", LOCK),
)
_TRITON_IDENTITY = ("*.cubin", "*.ptx", "*.ttir", "*.ttgir", "*.llir", "*.json", "*.so", "*.source")
_TRITON_PATHS = ("__grp__*.json",)
_INDUCTOR_VOLATILE = (
    ("*.best_config", TIMES),
    (".*.tmp", BEING_WRITTEN),
    ("*.pkl", PICKLE),
    ("*.pickle", PICKLE),
    ("locks/", LOCK),
)
_INDUCTOR_IDENTITY = ("*.py", "*.cpp", "*.h", "fxgraph/", "aotautograd/")

RULES = {
    rules.kind: rules
    for rules in (
        CacheRules(
            kind="triton",
            default="~/.triton/cache",
            identity=_TRITON_IDENTITY,
            volatile=_TRITON_VOLATILE,
            paths=_TRITON_PATHS,
        ),
        CacheRules(
            kind="inductor",
            default="/tmp/torchinductor_USER",
            identity=_INDUCTOR_IDENTITY + _TRITON_IDENTITY,
            volatile=_INDUCTOR_VOLATILE + _TRITON_VOLATILE,
            paths=_TRITON_PATHS,
        ),
        CacheRules(
            kind="vllm",
            default="~/.cache/vllm",
            identity=("cache_key_factors*", "model", *_INDUCTOR_IDENTITY, *_TRITON_IDENTITY),
            volatile=_INDUCTOR_VOLATILE + _TRITON_VOLATILE,
            paths=_TRITON_PATHS,
        ),
        CacheRules(
            kind="flashinfer",
            default="~/.cache/flashinfer",
            identity=("*.so", "*.cubin", "generated/"),
            volatile=(
                (".ninja_log", TIMES),
                (".ninja_deps", TIMES),
                (".ninja_lock", LOCK),
                ("*.o", INTERMEDIATE),
                ("*.d", INTERMEDIATE),
                ("*.lock", LOCK),
                ("flashinfer_jit.log", LOG),
            ),
            paths=("build.ninja",),
        ),
        CacheRules(
            kind="deepgemm",
            default="~/.deep_gemm/cache",
            identity=("kernel.cu", "kernel.cubin", "kernel.ptx", "kernel.sass"),
            volatile=(("tmp/", BEING_WRITTEN),),
        ),
        CacheRules(
            kind="tilelang",
            default="~/.tilelang/cache",
            identity=("*.cu", "*.cubin", "*.so", "*.py", "*.json"),
            volatile=(("tmp/", BEING_WRITTEN), ("*.tmp", BEING_WRITTEN), ("*.lock", LOCK)),
        ),
        CacheRules(
            kind="cuda",
            default="~/.nv/ComputeCache",
            identity=(),
            volatile=(),
            none_is_identity="the driver keeps an index and blobs that it replaces by use; only presence can be told",
        ),
    )
}
