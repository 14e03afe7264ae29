"""A server on this machine, in this process, that tests use with ``with``."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
    """Hand each request to `get` or `post`, which subclasses have."""

    port = 0  # any free one

    def __enter__(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = (
                -1
            )  # headers and body leave together, or each answer waits for a timer

            def log_message(self, *args):
                pass

            def do_GET(self):
                server.get(self)

            do_HEAD = do_GET

            def do_POST(self):
                length = int(self.headers["Content-Length"])
                server.post(self, json.loads(self.rfile.read(length)))

        self.http = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(
            target=self.http.serve_forever, args=(0.02,), daemon=True
        ).start()
        return self

    def __exit__(self, *error):
        self.http.shutdown()
        self.http.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


def send_json(request, status, content, **headers):
    """Send an answer as JSON."""
    data = json.dumps(content).encode()
    request.send_response(status)
    for name, value in {"Content-Length": len(data), **headers}.items():
        request.send_header(name.replace("_", "-"), str(value))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(data)
