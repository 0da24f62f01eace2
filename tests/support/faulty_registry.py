"""A registry in this process that serves images from memory and misbehaves as a test asks it to.

A fault is a function of the request's handler; it returns True where it has answered. Faults are registered by what is asked
for: "manifest", "blob", "token" or "any".
"""
import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import socket
import ssl
import struct
import subprocess
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from in_background import InBackground

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


# ---- images -------------------------------------------------------------------------------------------------------------

def digest_of(data, algorithm="sha256"):
    return algorithm + ":" + hashlib.new(algorithm, data).hexdigest()


def descriptor(media_type, data, **more):
    return {"mediaType": media_type, "digest": digest_of(data), "size": len(data), **more}


def tar_of(files):
    """A layer's tar: name -> bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


class Image:
    """A manifest and all blobs that it names, by digest."""

    def __init__(self, layers, architecture=ARCHITECTURE):
        tars = [tar_of(files) for files in layers]
        self.layers = [gzip.compress(tar, 1) for tar in tars]
        config = {"architecture": architecture, "os": "linux", "config": {"Cmd": ["/bin/sh"]},
                  "rootfs": {"type": "layers", "diff_ids": [digest_of(tar) for tar in tars]}}
        self.config = json.dumps(config).encode()
        self.document = {"schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(CONFIG, self.config),
                         "layers": [descriptor(LAYER, layer) for layer in self.layers]}
        self.blobs = {digest_of(blob): blob for blob in (self.config, *self.layers)}

    @property
    def manifest(self):
        return json.dumps(self.document).encode()

    @property
    def digest(self):
        return digest_of(self.manifest)


class LayoutImage(Image):
    """The image of an OCI layout directory."""

    def __init__(self, layout):
        read = lambda digest: (pathlib.Path(layout) / "blobs" / digest.replace(":", "/")).read_bytes()
        index = json.loads((pathlib.Path(layout) / "index.json").read_text())
        self.document = json.loads(read(index["manifests"][0]["digest"]))
        self.config = read(self.document["config"]["digest"])
        self.layers = [read(layer["digest"]) for layer in self.document["layers"]]
        self.blobs = {digest_of(blob): blob for blob in (self.config, *self.layers)}


def small_image(seed=0, layers=2, size=3 << 20):
    """Layers that do not compress, so that a blob is as long as its file."""
    noise = lambda n: hashlib.shake_128(f"{seed}.{n}".encode()).digest(size)
    return Image([{f"file{n}": noise(n), "last": b"%d" % n} for n in range(layers)])


# ---- certificates -------------------------------------------------------------------------------------------------------

def make_certificates(folder):
    """ca.crt, srv.crt and srv.key for localhost and registry.example, client.cert and client.key, in `folder`, by openssl."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", *key, "-subj", "/CN=localhost", "-keyout", "srv.key", "-out", "srv.csr")
    openssl("req", *key, "-subj", "/CN=a client", "-keyout", "client.key", "-out", "client.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost,DNS:registry.example,IP:127.0.0.1\n")
    sign = ["x509", "-req", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
    openssl(*sign, "-in", "srv.csr", "-extfile", "names", "-out", "srv.crt")
    openssl(*sign, "-in", "client.csr", "-out", "client.cert")
    return folder


# ---- the server ---------------------------------------------------------------------------------------------------------

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "faulty", ""
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def handle(self):
        with contextlib.suppress(OSError):  # the client may go at any time
            try:
                super().handle()
            except ssl.SSLError:
                self.hear_out()

    def hear_out(self):
        """Reads what still comes: closed with bytes unread, the connection would be reset and the client miss the alert."""
        with socket.socket(fileno=os.dup(self.connection.fileno())) as plain:
            plain.shutdown(socket.SHUT_WR)
            plain.settimeout(5)
            while plain.recv(1 << 16):
                pass

    # -- for faults --

    @property
    def registry(self):
        return self.server.registry

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)
        return True

    def start_body(self, length, status=200, **headers):
        """The head of an answer whose body the fault writes."""
        self.send_response(status)
        for name, value in {"Content-Length": length, **headers}.items():
            if value is not None:
                self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def reset(self):
        """Ends the connection as a crash would: RST, not FIN."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        # The descriptor under a TLS socket, so that no close_notify softens the end.
        os.close(self.connection.detach())
        self.wfile, self.rfile = io.BytesIO(), io.BytesIO()
        return True

    def blob(self):
        return self.registry.blobs.get(self.path.rpartition("/")[2])

    # -- a registry that behaves --

    def do_POST(self):
        self.form = urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
        self.do_GET()

    def do_GET(self):
        kind = next((kind for part, kind in (("/manifests/", "manifest"), ("/blobs/", "blob"), ("/token", "token"))
                     if part in self.path), "other")
        with self.registry.lock:
            self.registry.requests.append((kind, self.command, self.path, dict(self.headers)))
            faults = [*self.registry.faults.get("any", []), *self.registry.faults.get(kind, [])]
        if any(fault(self) for fault in faults):
            return
        {"manifest": self.give_manifest, "blob": self.give_blob}.get(kind, self.give_other)()

    def give_other(self):
        return self.answer(200, b"{}") if self.path == "/v2/" else self.answer(404)

    def give_manifest(self):
        found = self.registry.manifests.get(urllib.parse.unquote(self.path.rpartition("/")[2]))
        if found is None:
            return self.answer(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
        body = found if isinstance(found, bytes) else found.manifest
        return self.answer(200, body, Content_Type=json.loads(body)["mediaType"], Docker_Content_Digest=digest_of(body))

    def give_blob(self):
        body = self.blob()
        if body is None:
            return self.answer(404)
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first = int(asked[1]) if asked else 0
        etag = '"' + self.path.rpartition("/")[2] + '"'
        if not asked or first >= len(body):
            return self.answer(200 if not asked else 416, body if not asked else b"", ETag=etag)
        return self.answer(206, body[first:], Content_Range=f"bytes {first}-{len(body) - 1}/{len(body)}", ETag=etag)


class Registry(InBackground):
    """`with Registry(certificates) as registry`: HTTPS on a free port of localhost; without certificates plain HTTP.

    `known`: only clients whose certificate is of our authority are served.
    """

    def __init__(self, certificates=None, known=False):
        self.manifests, self.blobs, self.faults, self.requests = {}, {}, {}, []
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.registry = True, self
        self.scheme = "https" if certificates else "http"
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates / "srv.crt", certificates / "srv.key")
            if known:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(certificates / "ca.crt")
            # The handshake belongs to the connection's own thread.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def host(self):
        return f"localhost:{self.server.server_port}"

    @property
    def url(self):
        return f"{self.scheme}://{self.host}"

    def add(self, image, tag="1"):
        """Serves the image as HOST/app:TAG and by its digest; its reference."""
        self.manifests[tag] = self.manifests[image.digest] = image
        self.blobs.update(image.blobs)
        return f"{self.host}/app:{tag}"

    def fault(self, kind, act):
        self.faults.setdefault(kind, []).append(act)

    def asked(self, kind):
        """The requests of a kind as (path, headers)."""
        with self.lock:
            return [(path, headers) for found, _, path, headers in self.requests if found == kind]


def times(count, act):
    """A fault that happens `count` times, then no more."""
    left, lock = [count], threading.Lock()

    def fault(handler):
        with lock:
            happens = left[0] > 0
            left[0] -= 1
        return act(handler) if happens else False
    return fault
