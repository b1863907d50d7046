"""TEMPORARY stand-in for integration; the owner of source_facts replaces this file."""
from __future__ import annotations
import hashlib
from ..module_utils import _tools
from ..module_utils._env_file import parse, settings
from ..module_utils._observation import Observation
def collect(request, root):
    p = request["params"]; repo = root.real(p["repo"])
    def git(*a):
        r = _tools.ask(root, ["git", "-c", "safe.directory=*", "--no-optional-locks", "-C", repo, *a], real_in_replica=True)
        return r.out
    o = Observation("file" if request["kind"] == "source" else "source", "git")
    rev = git("rev-parse", "--verify", p["revision"] + "^{commit}").decode().strip()
    o.identity["revision"] = rev
    if request["kind"] == "source":
        o.identity["head"] = git("rev-parse", "HEAD").decode().strip()
        o.identity["branch"] = git("rev-parse", "--abbrev-ref", "HEAD").decode().strip()
        o.identity["tags"] = {t: git("rev-parse", "refs/tags/" + t + "^{commit}").decode().strip() for t in p.get("tags", [])}
        st = [x.decode() for x in git("status", "--porcelain", "-z").split(b"\0") if x]
        o.identity["modified"] = {x[3:]: x[:2] for x in st if x[:2] != "??"}
        o.identity["untracked"] = {x[3:]: "untracked" for x in st if x[:2] == "??"}
        o.identity["same_as_revision"] = {}
    o.identity["files"] = {}
    for f in p.get("files", []):
        blob = git("cat-file", "blob", rev + ":" + f)
        b = hashlib.sha256(blob).hexdigest()
        if request["kind"] == "source":
            d = root.digest(p["repo"] + "/" + f).sha256
            o.identity["files"][f] = {"sha256": d, "blob_sha256": b}
            o.identity["same_as_revision"][f] = d == b
        else:
            o.identity["files"][f] = {"sha256": b}
    for f, dialect in p.get("env_files", {}).items():
        o.identity["settings"] = settings(parse(git("cat-file", "blob", rev + ":" + f).decode(), dialect))
    return o
