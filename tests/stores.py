"""Stores for tests: an S3 server (moto's) and a web server with a certificate of its own, both on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme
from moto.server import ThreadedMotoServer

KEY = "a key that nobody may see"
BUCKET = "shop"


@contextlib.contextmanager
def s3(home: Path) -> Iterator[Any]:
    """A bucket on an S3 server, as fsspec has it; the key is where aws keeps it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    home.joinpath("credentials").write_text(f"[default]\naws_access_key_id = ann\naws_secret_access_key = {KEY}\n")
    said = {"AWS_ENDPOINT_URL": "http://{}:{}".format(*server.get_host_and_port())}
    said |= {"AWS_SHARED_CREDENTIALS_FILE": str(home / "credentials"), "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("AWS_")]:
                patch.delenv(name)
            for name, value in said.items():
                patch.setenv(name, value)
            import s3fs

            store = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
            store.mkdir(BUCKET)
            yield store
    finally:
        server.stop()


@contextlib.contextmanager
def web(files: dict[str, bytes], home: Path) -> Iterator[str]:
    """The address of a web server over TLS whose certificate is trusted while it runs.

    `/private` needs a name and a password; `/cut` sends half of what it promises; `/moving` is another one each time.
    """
    times = iter(range(1000))

    class Files(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            data = files.get(self.path.split("?")[0])
            if self.path.startswith("/private") and "Authorization" not in self.headers:
                data, status = b"no", 401
            else:
                status = 200 if data is not None else 404
            data = data or b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            mark = next(times) if self.path.startswith("/moving") else len(data)
            self.send_header("ETag", f'"{mark}"')
            self.end_headers()
            if body and self.path.startswith("/cut"):
                self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
            elif body:
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(home / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(home / "authority.pem"))
            patch.setenv("NO_PROXY", "localhost")
            yield f"https://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
