"""Debian's docker-registry on a free port of localhost: without TLS, with it alone, with passwords, with bearer tokens of our own."""
import base64
import contextlib
import json
import secrets
import socket
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import ssl

USER, PASSWORD = "u", "p@ss:wörd"
MODES = ["plain", "tls", "basic", "token"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def is_login(header):
    scheme, _, value = (header or "").partition(" ")
    return scheme == "Basic" and base64.b64decode(value).decode() == f"{USER}:{PASSWORD}"


class TokenServer:
    """Signs RS256 tokens with the server's own key; without a login it answers 401."""

    def __init__(self, certificates, seconds):
        self.certificates, self.seconds, self.given = certificates, seconds, 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                if not is_login(self.headers.get("Authorization")):
                    self.send_error(401)
                    return
                query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
                body = json.dumps({"token": server.token(query.get("scope", []))}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "srv.crt", certificates / "srv.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def token(self, scopes):
        self.given += 1
        access = []
        for scope in " ".join(scopes).split():
            kind, _, rest = scope.partition(":")
            name, _, actions = rest.rpartition(":")
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        now = int(time.time())
        chain = "".join((self.certificates / "srv.crt").read_text().split("-----")[2].split())
        claims = {"iss": "test", "sub": USER, "aud": "test-registry", "exp": now + self.seconds, "nbf": now - 10, "iat": now,
                  "jti": secrets.token_hex(8), "access": access}
        signed = ".".join(url64(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": "RS256", "x5c": [chain]}, claims))
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.certificates / "srv.key"], input=signed.encode(),
                                   capture_output=True, check=True).stdout
        return signed + "." + url64(signature)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def configuration(mode, port, folder, certificates, realm):
    lines = ["version: 0.1", "log: {level: error, accesslog: {disabled: true}}",
             f"storage: {{filesystem: {{rootdirectory: {folder}/images}}}}", "http:", f"  addr: 127.0.0.1:{port}",
             "  secret: test"]
    if mode != "plain":
        lines += [f"  tls: {{certificate: {certificates}/srv.crt, key: {certificates}/srv.key}}"]
    if mode == "basic":
        hashed = subprocess.run(["htpasswd", "-Bbn", USER, PASSWORD], capture_output=True, check=True).stdout
        (folder / "htpasswd").write_bytes(hashed)
        lines += ["auth:", f"  htpasswd: {{realm: test, path: {folder}/htpasswd}}"]
    if mode == "token":
        lines += ["auth:", f"  token: {{realm: '{realm}', service: test-registry, issuer: test, "
                  f"rootcertbundle: {certificates}/ca.crt}}"]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def serve(mode, folder, certificates, token_seconds=300):
    """The registry's host; `push` of its images is left to skopeo."""
    port = free_port()
    tokens = TokenServer(certificates, token_seconds) if mode == "token" else None
    realm = f"https://localhost:{tokens.server.server_port}/token" if tokens else ""
    (folder / "config.yml").write_text(configuration(mode, port, folder, certificates, realm))
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(["docker-registry", "serve", folder / "config.yml"], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.05)
        yield f"localhost:{port}", tokens
    finally:
        process.terminate()
        process.wait()
        if tokens:
            tokens.close()


def push(layout, tag, host, certificates, folder, plain=False):
    """Copies an OCI layout to HOST/team/app:1 with skopeo."""
    trust = folder / "trust"
    trust.mkdir(exist_ok=True)
    (trust / "ca.crt").write_bytes((certificates / "ca.crt").read_bytes())
    # A registry without TLS is spoken to without it where that is allowed.
    subprocess.run(["skopeo", "--insecure-policy", "copy", "-q", "--dest-tls-verify=" + ("false" if plain else "true"),
                    "--dest-cert-dir", trust, "--dest-creds", f"{USER}:{PASSWORD}",
                    f"oci:{layout}:{tag}", f"docker://{host}/team/app:1"], check=True, stdin=subprocess.DEVNULL)
    return f"{host}/team/app:1"
