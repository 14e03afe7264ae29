"""A small Hugging Face hub in this process: commits, branches, tags, files, and its failures.

It speaks what huggingface_hub asks for to fetch a model: a revision's commit, its tree,
its branches and tags, and files, whole or from a byte on. It offers no xet storage.
"""

import hashlib
import os
import re
import socket
import struct
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.local_server import LocalServer, send_json

API_ADDRESS = re.compile(
    r"/api/models/(?P<repo>[^/]+/[^/]+)/(?P<what>revision|tree)(/(?P<rev>[^/]+))?"
)
FILE_ADDRESS = re.compile(
    r"/(?P<repo>[^/]+/[^/]+)/(?P<what>resolve)/(?P<rev>[^/]+)/(?P<file>.+)"
)


@dataclass
class Repository:
    """Commits with their files, and the commits of branches and tags."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


class HubServer(LocalServer):
    """Serve repositories on this machine; use it with ``with``."""

    def __init__(self):
        self.repositories = {}
        self.fault = (
            None  # a function of the request that answers it, and says so, or does not
        )
        self.requests = []
        self.served = Counter()  # bytes of the files' bodies, by name

    def push(self, repo, folder, branch="main", tag=None):
        """Add a commit with a folder's files to a branch; return it."""
        files = {
            path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())
        }
        digest = hashlib.sha1(repo.encode())
        for name, content in files.items():
            digest.update(name.encode() + content)
        commit, found = (
            digest.hexdigest(),
            self.repositories.setdefault(repo, Repository()),
        )
        found.commits[commit] = files
        found.branches[branch] = commit
        if tag:
            found.tags[tag] = commit
        return commit

    def get(self, request):
        path = unquote(urlsplit(request.path).path)
        raw = urlsplit(request.path).path
        match = API_ADDRESS.fullmatch(raw) or FILE_ADDRESS.fullmatch(raw)
        self.requests.append((request.command, path))
        request.what, request.file = (match["what"], None) if match else (None, None)
        if request.what == "resolve":
            request.file = unquote(match["file"])
        if self.fault and self.fault(request):
            return
        repository = match and self.repositories.get(match["repo"])
        if not repository:
            refuse_request(
                request, 401, "RepoNotFound", "Invalid username or password."
            )
        else:
            self.at(request, repository, match, unquote(match["rev"]))

    def at(self, request, repository, match, revision):
        """Answer a request about a revision."""
        named = {**repository.branches, **repository.tags}
        commit = revision if revision in repository.commits else named.get(revision)
        if commit is None:
            refuse_request(
                request, 404, "RevisionNotFound", f"Invalid rev id: {revision}"
            )
        elif match["what"] == "revision":
            send_json(
                request, 200, {"id": match["repo"], "sha": commit, "siblings": []}
            )
        elif match["what"] == "tree":
            files = repository.commits[commit].items()
            send_json(
                request, 200, [tree_entry(name, content) for name, content in files]
            )
        elif request.file not in repository.commits[commit]:
            refuse_request(
                request, 404, "EntryNotFound", "Entry not found", X_Repo_Commit=commit
            )
        else:
            self.file(request, repository.commits[commit][request.file], commit)

    def file(self, request, content, commit):
        first = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range") or "")
        start = int(first[1]) if first else 0
        body = content[start:]
        request.send_response(206 if first else 200)
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": commit,
            "Content-Length": len(body),
            "Accept-Ranges": "bytes",
        }
        if first:
            headers["Content-Range"] = (
                f"bytes {start}-{len(content) - 1}/{len(content)}"
            )
        for name, value in headers.items():
            request.send_header(name, str(value))
        request.end_headers()
        if request.command == "GET":
            body = body[: getattr(request, "cut", len(body))]
            self.served[request.file] += len(body)
            request.wfile.write(body)
            request.wfile.flush()
            if hasattr(request, "cut"):
                end_connection(request, request.reset)


def tree_entry(name, content):
    blob = hashlib.sha1(content).hexdigest()
    return {"type": "file", "path": name, "size": len(content), "oid": blob}


def refuse_request(request, status, code, said, **headers):
    """Refuse a request as the hub does."""
    send_json(
        request,
        status,
        {"error": said},
        X_Error_Code=code,
        X_Error_Message=said,
        **headers,
    )


def end_connection(request, reset):
    """Close a connection as a peer that is done does, or as one that is gone (`reset`)."""
    request.close_connection = True
    if reset:
        linger = struct.pack("ii", 1, 0)
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        os.close(request.connection.detach())


def status_fault(code, *what, times=10**6, **headers):
    """Return a fault: another status for requests of some kinds (all), so many times."""
    left = [times]

    def fault(request):
        if (what and request.what not in what) or left[0] <= 0:
            return False
        left[0] -= 1
        send_json(request, code, {"error": "a fault"}, **headers)
        return True

    return fault


def refuse_gated_files(request):
    """Refuse files, as the hub does where terms were not accepted; the rest is public."""
    if request.what == "resolve":
        refuse_request(request, 403, "GatedRepo", "Access to this model is restricted.")
    return request.what == "resolve"


def truncation_fault(file, after, times=10**6, reset=False):
    """Return a fault: the connection is lost so many bytes into a file, so many times."""
    left = [times]

    def fault(request):
        if request.file == file and request.command == "GET" and left[0] > 0:
            left[0] -= 1
            request.cut, request.reset = after, reset
        return False

    return fault


def drop_connection(request):
    """Close the connection without an answer."""
    request.close_connection = True
    return True
