"""`coracle pull` against a registry that behaves and one that does not: the right image or a clear error, never a hang, never a
secret to the wrong host, and nothing left of a pull that failed."""
import base64
import gzip
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import harness

sys.path.insert(0, str(harness.REPOSITORY / "tests" / "support"))
import faulty_registry as fake  # noqa: E402
import real_registry as real  # noqa: E402
from tunnel_proxy import Proxy  # noqa: E402

pytestmark = pytest.mark.needs("machine")


@pytest.fixture(scope="session")
def certificates(tmp_path_factory):
    return fake.make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def registry(certificates):
    with fake.Registry(certificates) as registry:
        yield registry


@pytest.fixture
def other_host(certificates):
    """Another origin: it should never see credentials."""
    with fake.Registry(certificates) as registry:
        yield registry


class Puller:
    """coracle with an empty store and a configuration folder of its own."""

    def __init__(self, coracle, config, certificates):
        self.coracle, self.config, self.certificates = coracle, config, certificates

    def trust(self, host):
        folder = self.config / "coracle" / "certs.d" / host
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ca.crt").write_bytes((self.certificates / "ca.crt").read_bytes())

    def log_in(self, registry, **entry):
        (self.config / "coracle").mkdir(parents=True, exist_ok=True)
        file = self.config / "coracle" / "auth.json"
        file.write_text(json.dumps({"auths": {registry.host: entry}}))
        file.chmod(0o600)

    @property
    def env(self):
        return {"XDG_CONFIG_HOME": str(self.config), "no_proxy": "localhost"}

    def call(self, *args, **options):
        return self.coracle.call(*args, env=self.env, **options)

    def pull(self, reference, *args, **options):
        return self.call("pull", *args, reference, **options)

    def images(self):
        return json.loads(self.call("images", "--json").stdout)["images"]

    def leftovers(self):
        """What lies in STORE/tmp beside the lock of the sweep, after a start that swept."""
        self.images()
        return sorted(set(os.listdir(self.coracle.store / "tmp")) - {".sweep"})


@pytest.fixture
def puller(empty_coracle, tmp_path, certificates, registry):
    puller = Puller(empty_coracle, tmp_path / "config", certificates)
    puller.trust(registry.host)
    return puller


def assert_pulled(puller, done, image):
    assert done.code == 0, done
    assert image.digest in done.stdout, done
    assert [entry["manifest_digest"] for entry in puller.images()] == [image.digest]
    assert puller.leftovers() == []


def assert_refused(puller, done, *words):
    assert done.code == 125, done
    for word in words:
        assert word in done.stderr, done
    assert puller.images() == [] and puller.leftovers() == [], done


# ---- a registry that behaves ---------------------------------------------------------------------------------------------

def test_an_image_is_pulled_by_tag_and_runs(puller, registry, busybox_layout, host_features):
    image = fake.LayoutImage(busybox_layout)
    assert_pulled(puller, puller.pull(registry.add(image)), image)
    if "sandbox" in host_features:
        ran = puller.call("run", f"{registry.host}/app:1", "--", "echo", "hello")
        assert ran.stdout == "hello\n", ran


def test_an_image_is_pulled_by_digest_and_found_by_it(puller, registry):
    image = fake.small_image()
    registry.add(image)
    reference = f"{registry.host}/app@{image.digest}"
    assert_pulled(puller, puller.pull(reference), image)
    assert puller.images()[0]["ref"] == reference


def test_what_the_store_holds_is_not_fetched_again(puller, registry):
    reference = registry.add(fake.small_image())
    assert puller.pull(reference).code == 0
    before = len(registry.asked("blob"))
    assert puller.pull(reference).code == 0
    assert len(registry.asked("blob")) == before


def test_json_gives_events_and_the_image(puller, registry):
    image = fake.small_image()
    done = puller.pull(registry.add(image), "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["images"][0]["manifest_digest"] == image.digest, done
    ended = {line["digest"] for line in lines[:-1] if line["event"] == "layer" and line["bytes"] == line["total"]}
    assert ended == {fake.digest_of(layer) for layer in image.layers}, done


def index_of(*entries):
    return json.dumps({"schemaVersion": 2, "mediaType": fake.INDEX, "manifests": list(entries)}).encode()


def entry_for(image, architecture, **more):
    return fake.descriptor(fake.MANIFEST, image.manifest, platform={"os": "linux", "architecture": architecture}, **more)


def test_of_an_index_this_machines_image_is_taken_or_the_one_asked_for(puller, registry):
    mine, other = fake.small_image(1), fake.Image([{"x": b"x"}], architecture="s390x")
    attestation = {"annotations": {"vnd.docker.reference.type": "attestation-manifest"}}
    for image in (mine, other):
        registry.add(image)
    inner = index_of(entry_for(other, "s390x"), entry_for(mine, "unknown", **attestation), entry_for(mine, fake.ARCHITECTURE))
    registry.manifests[fake.digest_of(inner)] = inner
    registry.manifests["multi"] = index_of(fake.descriptor(fake.INDEX, inner))
    reference = f"{registry.host}/app:multi"
    assert_pulled(puller, puller.pull(reference), mine)
    assert_pulled(puller, puller.pull(reference, "--platform", "linux/s390x"), other)
    refused = puller.pull(reference, "--platform", "linux/riscv64")
    assert refused.code == 125 and "s390x" in refused.stderr, refused


def test_run_pulls_what_is_missing_and_never_when_told_so(puller, registry, busybox_layout, host_features):
    reference = registry.add(fake.LayoutImage(busybox_layout))
    never = puller.call("run", "--json", "--pull", "never", reference, "--", "true")
    assert never.json["reason"] == "image_failed" and registry.requests == [], never
    if "sandbox" in host_features:
        assert puller.call("run", reference, "--", "echo", "hello").stdout == "hello\n"
        asked = len(registry.asked("manifest"))
        assert puller.call("run", reference, "--", "true").code == 0
        assert len(registry.asked("manifest")) == asked
        assert puller.call("run", "--pull", "always", reference, "--", "true").code == 0
        assert len(registry.asked("manifest")) == asked + 1


def test_five_pulls_at_once_ask_for_every_blob_once(puller, registry):
    image = fake.small_image(layers=4)
    reference = registry.add(image)
    pulls = [puller.coracle.start("pull", reference, env=puller.env) for _ in range(5)]
    for process in pulls:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
    paths = [path for path, _ in registry.asked("blob")]
    assert sorted(paths) == sorted(f"/v2/app/blobs/{digest}" for digest in image.blobs), paths
    assert puller.leftovers() == []


def test_a_run_shows_the_pull_of_its_image_unless_told_to_be_quiet(puller, registry, busybox_layout, host_features):
    image = fake.LayoutImage(busybox_layout)
    reference = registry.add(image)
    ran = puller.call("run", reference, "--", "sh", "-c", "echo out; echo err >&2")
    assert (ran.code, ran.stdout) == (0, "out\n"), ran
    layer = fake.digest_of(image.layers[0])[7:19]
    assert f"layer {layer}: " in ran.stderr and ran.stderr.endswith("err\n"), ran
    assert puller.call("run", reference, "--", "true").stderr == ""
    quiet = puller.call("run", "-q", "--pull", "always", reference, "--", "true")
    assert (quiet.code, quiet.stderr) == (0, ""), quiet


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_run_that_is_still_pulling_at_once(puller, registry, number):
    image = fake.small_image(layers=1)
    reference = registry.add(image)
    stalled = threading.Event()

    def stall(handler):
        handler.start_body(len(handler.blob()))
        handler.wfile.write(handler.blob()[:1000])
        stalled.set()
        time.sleep(20)
        return True
    registry.fault("blob", lambda handler: handler.blob() in image.layers and stall(handler))
    process = puller.coracle.start("run", "--json", reference, env=puller.env)
    assert stalled.wait(30)
    process.send_signal(signal.SIGWINCH)  # the terminal's size is no reason to end
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    started = time.monotonic()
    process.send_signal(number)
    record = json.loads(process.communicate(timeout=30)[0])
    assert time.monotonic() - started < 2 and record["reason"] == "cancelled" and process.returncode == 125, record
    harness.wait_for(lambda: not harness.descendants(), "coracle-image goes with its caller")
    assert puller.images() == [] and puller.leftovers() == []


# ---- lies ---------------------------------------------------------------------------------------------------------------

def with_body(change):
    """A fault that gives the blob's bytes after `change`."""
    return lambda handler: handler.answer(200, change(handler.blob()))


def another_date(body):
    """The gzip header's time: the same tar in another blob."""
    return body[:4] + bytes([body[4] ^ 1]) + body[5:]


def without_length(change):
    """The same in a body that ends with the connection."""
    def fault(handler):
        handler.start_body(None, Connection="close")
        handler.wfile.write(change(handler.blob()))
        handler.close_connection = True
        return True
    return fault


def endless(handler):
    handler.start_body(None, Connection="close")
    while True:  # until the client has enough
        handler.wfile.write(bytes(1 << 16))


def bare_manifest(body, **headers):
    return lambda handler: handler.answer(200, body, **headers)


BLOB_LIES = {
    "another content": (with_body(another_date), ["digest"]),
    "a shorter blob": (with_body(lambda body: body[:-1]), ["descriptor says"]),
    "a longer blob": (with_body(lambda body: body + b"x"), ["descriptor says"]),
    "a longer blob without a length": (without_length(lambda body: body + b"x"), ["sends more than"]),
    "an endless blob": (endless, []),
    "an error page": (lambda handler: handler.answer(200, b"<html>", Content_Type="text/html"), ["descriptor says"]),
    "no such blob": (lambda handler: handler.answer(404), ["does not have it"]),
    "no permission": (lambda handler: handler.answer(403), ["refuses"]),
    "a part that nobody asked for": (lambda handler: handler.answer(206, handler.blob()[5:]), ["206"]),
}


@pytest.mark.parametrize("lie", BLOB_LIES)
def test_a_lie_about_a_blob_is_told_and_leaves_nothing(puller, registry, lie):
    fault, words = BLOB_LIES[lie]
    image = fake.small_image(size=1 << 20)
    reference = registry.add(image)
    registry.fault("blob", lambda handler: handler.blob() in image.layers and fault(handler))
    assert_refused(puller, puller.pull(reference), *words)


MANIFEST_LIES = {
    "a digest that is not its own": (lambda image: bare_manifest(image.manifest, Docker_Content_Digest=fake.digest_of(b"")), ["digest"]),
    "a digest that is none": (lambda image: bare_manifest(image.manifest, Docker_Content_Digest="sha256:x"), ["digest"]),
    "an index by its header": (lambda image: bare_manifest(image.manifest, Content_Type=fake.INDEX), ["calls itself"]),
    "an error page": (lambda image: bare_manifest(b"<html>", Content_Type="text/html"), ["JSON"]),
    "nothing": (lambda image: bare_manifest(b""), ["JSON"]),
    "endless text": (lambda image: endless, ["larger than"]),
    "a gzip bomb": (lambda image: bare_manifest(gzip.compress(bytes(64 << 20)), Content_Encoding="gzip"), ["larger than"]),
    "a head without end": (lambda image: bare_manifest(b"", X=("a" * 60000), **{f"X{n}": "b" * 60000 for n in range(8)}), ["head"]),
    "a redirect loop": (lambda image: lambda handler: handler.answer(307, Location=handler.path + "/manifests/x"), ["redirects"]),
    "a redirect to plain HTTP": (lambda image: lambda handler: handler.answer(307, Location="http://localhost:9/x"), ["without TLS"]),
    "a redirect to a file": (lambda image: lambda handler: handler.answer(307, Location="file:///etc/passwd"), ["http"]),
    "401 without a challenge": (lambda image: lambda handler: handler.answer(401), ["does not say"]),
    "a token server without TLS": (lambda image: lambda handler: handler.answer(
        401, WWW_Authenticate='Bearer realm="http://localhost:9/token"'), ["without TLS"]),
    "a garbled answer": (lambda image: lambda handler: handler.wfile.write(b"SSH-2.0-x\r\n\r\n") and handler.reset(), []),
}


@pytest.mark.parametrize("lie", MANIFEST_LIES)
def test_a_lie_about_a_manifest_is_told_and_leaves_nothing(puller, registry, lie):
    make, words = MANIFEST_LIES[lie]
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    registry.fault("manifest", make(image))
    assert_refused(puller, puller.pull(reference), *words)


def test_a_digest_reference_gets_that_manifest_or_none(puller, registry):
    image, other = fake.small_image(1, size=1000), fake.small_image(2, size=1000)
    registry.add(image), registry.add(other, "2")
    registry.manifests[image.digest] = other
    assert_refused(puller, puller.pull(f"{registry.host}/app@{image.digest}"), "digest")


def test_a_gzip_encoded_manifest_is_the_manifest(puller, registry):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    registry.fault("manifest", bare_manifest(gzip.compress(image.manifest), Content_Encoding="gzip",
                                             Docker_Content_Digest=image.digest))
    assert_pulled(puller, puller.pull(reference), image)


def test_an_unknown_image_is_not_found(puller, registry):
    assert_refused(puller, puller.pull(f"{registry.host}/none:1"), "does not have it", "manifest unknown")


def test_a_registry_without_trusted_certificate_is_refused_with_the_fix(puller, other_host):
    reference = other_host.add(fake.small_image(size=1000))
    assert_refused(puller, puller.pull(reference), "certificate", "certs.d")
    assert other_host.requests == []


# ---- breaks -------------------------------------------------------------------------------------------------------------

def broken_at(position):
    def fault(handler):
        handler.start_body(len(handler.blob()), ETag='"same"')
        handler.wfile.write(handler.blob()[:position])
        return handler.reset()
    return fault


def test_a_blob_goes_on_by_range_after_a_reset(puller, registry):
    image = fake.small_image(layers=1)
    reference = registry.add(image)
    registry.fault("blob", lambda handler: handler.blob() in image.layers and not handler.headers.get("Range") and
                   broken_at(2 << 20)(handler))
    assert_pulled(puller, puller.pull(reference), image)
    ranges = [headers.get("Range") for path, headers in registry.asked("blob") if fake.digest_of(image.layers[0]) in path]
    assert len(ranges) == 2 and ranges[0] is None and 0 < int(ranges[1][6:-1]) <= 2 << 20, ranges


AFTER_A_BREAK = {
    "Range ignored": (lambda handler: handler.answer(200, handler.blob()), True),
    "another part": (lambda handler: handler.answer(206, handler.blob()[7:], Content_Range=f"bytes 7-{len(handler.blob()) - 1}/{len(handler.blob())}"), False),
    "a part of another whole": (lambda handler: handler.answer(206, b"", Content_Range="bytes 9-10/11"), False),
    "no such part": (lambda handler: handler.answer(416), False),
}


@pytest.mark.parametrize("answer", AFTER_A_BREAK)
def test_the_answer_after_a_break_is_checked(puller, registry, answer):
    rest, good = AFTER_A_BREAK[answer]
    image = fake.small_image(layers=1)
    reference = registry.add(image)
    registry.fault("blob", lambda handler: handler.blob() in image.layers and
                   (rest if handler.headers.get("Range") else broken_at(2 << 20))(handler))
    done = puller.pull(reference)
    if good:
        assert_pulled(puller, done, image)
    else:
        assert_refused(puller, done, "the rest from byte")


def test_a_registry_that_always_breaks_is_given_up(puller, registry):
    image = fake.small_image(layers=1)
    reference = registry.add(image)
    registry.fault("blob", lambda handler: handler.blob() in image.layers and broken_at(1000)(handler))
    assert_refused(puller, puller.pull(reference, timeout=90), "attempts")


def test_a_stalled_registry_ends_with_an_error(puller, registry):
    image = fake.small_image(layers=1)
    reference = registry.add(image)

    def stall(handler):
        handler.start_body(len(handler.blob()))
        handler.wfile.write(handler.blob()[:1000])
        time.sleep(60)
        return True
    registry.fault("blob", lambda handler: handler.blob() in image.layers and stall(handler))
    done = puller.pull(reference, "--stall-timeout", "500ms", timeout=60)
    assert_refused(puller, done, "stalls")


def test_gc_takes_nothing_from_under_a_pull(puller, registry):
    """The first layer and the config have come, nothing names them yet, and the last layer takes its time."""
    image = fake.small_image(layers=2)
    reference = registry.add(image)
    slow = threading.Event()

    def late(handler):
        slow.set()
        time.sleep(2)
        return False  # then as usual
    registry.fault("blob", lambda handler: handler.blob() == image.layers[-1] and late(handler))
    process = puller.coracle.start("pull", reference, env=puller.env)
    assert slow.wait(30)
    collected = puller.call("gc", "--json")
    assert process.poll() is not None or collected.code == 125, collected  # it waited for the pull, or gave up
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert [entry["manifest_digest"] for entry in puller.images()] == [image.digest]
    assert puller.call("save", reference, "-o", puller.coracle.store.with_suffix(".tar")).code == 0


def test_a_server_that_never_answers_a_handshake_is_given_up(puller):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"localhost:{silent.getsockname()[1]}"
        assert_refused(puller, puller.pull(f"{host}/app:1", "--stall-timeout", "300ms", timeout=60), "stalls")


@pytest.mark.parametrize("headers", [{}, {"Retry_After": "1"}, {"Retry_After": "nonsense"}], ids=["", "seconds", "nonsense"])
def test_a_storm_of_429_is_waited_out(puller, registry, headers):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    registry.fault("any", fake.times(3, lambda handler: handler.answer(429, **headers)))
    done = puller.pull(reference)
    assert_pulled(puller, done, image)
    assert done.seconds >= (3 if headers.get("Retry_After") == "1" else 0.7), "nobody waited"


def test_429_without_end_and_an_absurd_retry_after_are_errors(puller, registry):
    reference = registry.add(fake.small_image(size=1000))
    registry.fault("any", lambda handler: handler.answer(429, Retry_After="100000"))
    done = puller.pull(reference)
    assert_refused(puller, done, "429", "minutes")
    registry.faults["any"] = [lambda handler: handler.answer(503)]
    assert_refused(puller, puller.pull(reference), "503", "attempts")


# ---- credentials --------------------------------------------------------------------------------------------------------

USER, PASSWORD = "u", "p@ss:wörd"
SECRETS = [PASSWORD, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(), "refresh-me", "secret-token"]


def basic_of(user, password):
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def wants_basic(handler):
    if handler.headers.get("Authorization") == "Basic " + basic_of(USER, PASSWORD):
        return False
    return handler.answer(401, WWW_Authenticate='Basic realm="here"')


class TokenServer:
    """Faults that ask for bearer tokens and hand them out; a token is good for `uses` requests."""

    def __init__(self, registry, uses=10**6, accept=lambda handler: True):
        self.registry, self.uses, self.left, self.given, self.accept = registry, uses, {}, 0, accept
        self.lock = threading.Lock()
        registry.fault("token", self.give)
        for kind in ("manifest", "blob"):
            registry.fault(kind, self.want)

    def give(self, handler):
        if not self.accept(handler):
            return handler.answer(401)
        with self.lock:
            self.given += 1
            token = f"secret-token-{self.given}"
            self.left[token] = self.uses
        return handler.answer(200, json.dumps({"token": token, "expires_in": 300}).encode())

    def want(self, handler):
        scheme, _, token = handler.headers.get("Authorization", "").partition(" ")
        with self.lock:
            if scheme == "Bearer" and self.left.get(token, 0) > 0:
                self.left[token] -= 1
                return False
        return handler.answer(401, WWW_Authenticate=f'Bearer realm="{self.registry.url}/token",service="here"')


def assert_no_secret(done):
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr, done


def test_basic_with_a_password_of_colons_and_utf8(puller, registry):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    registry.fault("any", wants_basic)
    refused = puller.pull(reference)
    assert_refused(puller, refused, "coracle login")
    puller.log_in(registry, auth=basic_of(USER, PASSWORD))
    assert_pulled(puller, puller.pull(reference), image)


def test_a_wrong_password_is_denied_after_one_try_and_not_shown(puller, registry):
    reference = registry.add(fake.small_image(size=1000))
    registry.fault("any", wants_basic)
    puller.log_in(registry, auth=basic_of(USER, "secret-token"))
    done = puller.pull(reference)
    assert_refused(puller, done, "coracle login")
    assert_no_secret(done)
    assert len(registry.requests) == 2


def test_tokens_are_asked_for_with_the_scope_of_this_repository(puller, registry):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    tokens = TokenServer(registry)
    assert_pulled(puller, puller.pull(reference), image)
    assert tokens.given == 1
    (path, headers), = registry.asked("token")
    assert "scope=repository%3Aapp%3Apull" in path and "service=here" in path and "Authorization" not in headers


def test_a_token_that_expires_in_mid_pull_is_renewed(puller, registry):
    image = fake.small_image(layers=6, size=1000)
    reference = registry.add(image)
    tokens = TokenServer(registry, uses=2)
    assert_pulled(puller, puller.pull(reference), image)
    assert tokens.given >= 3


def test_a_token_that_never_helps_is_given_up(puller, registry):
    reference = registry.add(fake.small_image(size=1000))
    tokens = TokenServer(registry, uses=0)
    assert_refused(puller, puller.pull(reference), "refuses")
    assert tokens.given <= 2


def test_an_identity_token_is_exchanged_by_post(puller, registry):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    TokenServer(registry, accept=lambda handler: handler.command == "POST" and handler.form["refresh_token"] == ["refresh-me"]
                and handler.form["grant_type"] == ["refresh_token"])
    puller.log_in(registry, identitytoken="refresh-me")
    done = puller.pull(reference)
    assert_pulled(puller, done, image)
    assert_no_secret(done)


def log_in(puller, host, user=USER, password=PASSWORD, *args):
    return puller.call("login", "-u", user, "--password-stdin", *args, host, stdin=password.encode())


def kept(puller):
    file = puller.config / "coracle" / "auth.json"
    return json.loads(file.read_text())["auths"] if file.exists() else {}


def test_a_login_is_kept_only_where_the_registry_takes_it(puller, registry):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    registry.fault("any", wants_basic)
    wrong = log_in(puller, registry.host, password="secret-token")
    assert wrong.code == 125 and "refuses the user 'u' or the password" in wrong.stderr and kept(puller) == {}, wrong
    assert_no_secret(wrong)
    assert len(registry.requests) == 2
    done = log_in(puller, registry.host)
    assert done.code == 0 and list(kept(puller)) == [registry.host], done
    assert all(path == "/v2/" for _, _, path, _ in registry.requests)
    assert_pulled(puller, puller.pull(reference), image)


def test_a_login_by_token_asks_for_the_right_to_nothing(puller, registry):
    right = "Basic " + basic_of(USER, PASSWORD)
    tokens = TokenServer(registry, accept=lambda handler: handler.headers.get("Authorization") == right)
    registry.fault("other", tokens.want)
    wrong = log_in(puller, registry.host, password="wrong")
    assert wrong.code == 125 and "refuses the login" in wrong.stderr and kept(puller) == {}, wrong
    done = log_in(puller, registry.host + "/team")
    assert done.code == 0 and list(kept(puller)) == [registry.host + "/team"], done
    assert all("scope" not in path and "service=here" in path for path, _ in registry.asked("token"))
    assert_no_secret(done)


def test_a_registry_that_asks_nobody_keeps_the_login_with_a_warning(puller, registry):
    done = log_in(puller, registry.host)
    assert done.code == 0 and "does not ask" in done.stderr and list(kept(puller)) == [registry.host], done


@pytest.mark.parametrize("status, words", {404: "does not have it", 403: "refuses", 500: "500"}.items())
def test_what_is_no_registry_is_no_login(puller, registry, status, words):
    registry.fault("other", lambda handler: handler.answer(status))
    done = log_in(puller, registry.host)
    assert done.code == 125 and words in done.stderr and kept(puller) == {}, done


def test_a_login_without_the_registry_is_for_those_who_say_so(puller, registry):
    registry.fault("any", lambda handler: handler.reset())
    done = log_in(puller, registry.host)
    assert done.code == 125 and "--no-verify" in done.stderr and kept(puller) == {}, done
    asked = len(registry.requests)
    assert log_in(puller, registry.host, USER, PASSWORD, "--no-verify").code == 0
    assert list(kept(puller)) == [registry.host] and len(registry.requests) == asked


def test_a_redirect_to_another_host_carries_no_credentials(puller, registry, other_host):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    other_host.add(image)
    puller.trust(other_host.host)
    TokenServer(registry)
    puller.log_in(registry, auth=basic_of(USER, PASSWORD))
    wanted = list(registry.faults["blob"])
    registry.faults["blob"] = [*wanted, lambda handler: handler.answer(307, Location=other_host.url + handler.path)]
    assert_pulled(puller, puller.pull(reference), image)
    assert other_host.asked("blob") and all("Authorization" not in headers for _, headers in other_host.asked("blob"))
    assert all("Authorization" in headers for _, headers in registry.asked("blob")[1:])


def test_another_host_cannot_ask_for_the_credentials_nor_lead_back_with_them(puller, registry, other_host):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    puller.trust(other_host.host)
    registry.fault("manifest", wants_basic)
    puller.log_in(registry, auth=basic_of(USER, PASSWORD))
    registry.fault("blob", lambda handler: handler.answer(307, Location=other_host.url + handler.path))
    other_host.fault("any", lambda handler: handler.answer(401, WWW_Authenticate=f'Basic realm="{other_host.url}"'))
    assert_refused(puller, puller.pull(reference), "redirects to refuses")
    other_host.faults["any"] = [lambda handler: handler.answer(307, Location=registry.url + "/v2/app/token/steal")]
    puller.pull(reference)
    assert all("Authorization" not in headers for _, _, _, headers in other_host.requests)
    stolen = [headers for _, _, path, headers in registry.requests if path.endswith("/steal")]
    assert stolen and all("Authorization" not in headers for headers in stolen)


# ---- kill -9 ------------------------------------------------------------------------------------------------------------

KILLS = int(os.environ.get("CORACLE_TEST_KILLS", "12"))


def test_a_pull_killed_at_any_moment_leaves_nothing_and_the_next_is_right(puller, registry):
    dice = random.Random(7)
    image = fake.small_image(layers=4)
    reference = registry.add(image)
    started = time.monotonic()
    assert puller.pull(reference).code == 0
    whole = time.monotonic() - started
    for kill in range(KILLS):
        subprocess.run(["rm", "-rf", puller.coracle.store], check=True)
        process = puller.coracle.start("pull", reference, env=puller.env)
        time.sleep(dice.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        harness.wait_for(lambda: not harness.descendants(), f"coracle-image dies with its caller (kill {kill})")
        assert_pulled(puller, puller.pull(reference), image)


# ---- a registry of others ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", real.MODES)
def test_docker_registry_gives_its_image_to_those_who_may_have_it(puller, certificates, busybox_layout, tmp_path, mode):
    with real.serve(mode, tmp_path, certificates) as (host, tokens):
        reference = real.push(busybox_layout, "busybox", host, certificates, tmp_path, plain=mode == "plain")
        for trusted in [host, f"localhost:{tokens.server.server_port}"] if tokens else [host]:
            puller.trust(trusted)
        if mode == "plain":
            assert_refused(puller, puller.pull(reference), "plain_http")
            (puller.config / "coracle" / "config.yaml").write_text(json.dumps({"registries": {"plain_http": [host]}}))
        if mode in ("basic", "token"):
            assert_refused(puller, puller.pull(reference), "coracle login")
            assert log_in(puller, host, password="wrong").code == 125
            assert_refused(puller, puller.pull(reference), "coracle login")
            assert log_in(puller, host, real.USER, real.PASSWORD).code == 0
        done = puller.pull(reference)
        assert done.code == 0, done
        assert puller.call("run", reference, "--", "echo", "hello").stdout == "hello\n"
        assert puller.leftovers() == []


# ---- what the configuration says -----------------------------------------------------------------------------------------

def pull_with_settings(puller, reference, env=None, **settings):
    """The last line of `coracle pull --json` under a configuration whose section `registries` is `settings`."""
    config = puller.coracle.store.with_suffix(".yaml")
    config.write_text(json.dumps({"registries": settings}))  # JSON is YAML
    done = puller.coracle.call("--config", config, "pull", "--json", "--stall-timeout", "5s", reference, env={**puller.env, **(env or {})})
    return json.loads(done.stdout.splitlines()[-1])


def digest_in(answer):
    assert "images" in answer, answer
    return answer["images"][0]["manifest_digest"]


@pytest.fixture
def plain():
    with fake.Registry() as registry:
        yield registry


def test_plain_http_is_spoken_only_with_hosts_that_are_named(puller, plain):
    image = fake.small_image(size=1000)
    reference = plain.add(image)
    refused = pull_with_settings(puller, reference)
    assert "plain_http" in refused["error"]["hint"] and plain.requests == [], refused
    assert digest_in(pull_with_settings(puller, reference, plain_http=[plain.host])) == image.digest


def test_mirrors_are_asked_in_order_and_the_registry_last(puller, registry, other_host, plain):
    image = fake.small_image(size=1000)
    reference = registry.add(image)
    puller.trust(other_host.host)
    mirrors = {"mirrors": {registry.host: [plain.host, f"{other_host.host}/copy"]}, "plain_http": [plain.host]}
    other_host.fault("any", lambda handler: handler.answer(404))
    plain.fault("any", lambda handler: handler.answer(403))
    assert digest_in(pull_with_settings(puller, reference, **mirrors)) == image.digest
    assert plain.asked("manifest") and other_host.asked("manifest")[0][0] == "/v2/copy/app/manifests/1"
    plain.faults.clear()
    newer = fake.small_image(5, size=1000)
    plain.add(newer)
    before = len(registry.requests)
    assert digest_in(pull_with_settings(puller, reference, **mirrors)) == newer.digest
    assert len(registry.requests) == before


def test_a_blocked_registry_is_never_asked(puller, registry):
    reference = registry.add(fake.small_image(size=1000))
    answer = pull_with_settings(puller, reference, blocked=[registry.host])
    assert answer["error"]["code"] == "denied" and registry.requests == [], answer


def test_a_short_name_is_looked_for_on_the_search_list(puller, registry, other_host):
    image = fake.small_image(size=1000)
    registry.add(image)
    puller.trust(other_host.host)
    answer = pull_with_settings(puller, "app:1", search=[other_host.host, registry.host])
    assert digest_in(answer) == image.digest and answer["images"][0]["ref"] == f"{registry.host}/app:1"
    assert other_host.asked("manifest")


def test_a_proxy_of_the_environment_is_used_unless_no_proxy_names_the_host(puller, plain):
    image = fake.small_image(size=1000)
    plain.add(image)
    host = "registry.example:5000"  # exists for the proxy alone
    proxy = {"HTTP_PROXY": plain.url}
    assert digest_in(pull_with_settings(puller, f"{host}/app:1", proxy, plain_http=[host])) == image.digest
    assert plain.asked("manifest")[0][0] == f"http://{host}/v2/app/manifests/1"
    asked = len(plain.requests)
    answer = pull_with_settings(puller, f"{host}/app:1", {**proxy, "no_proxy": "registry.example"}, plain_http=[host])
    assert "resolve" in answer["error"]["message"].lower() and len(plain.requests) == asked, answer


def test_an_https_proxy_is_a_tunnel_and_sees_nothing_of_it(puller, registry):
    image = fake.small_image(size=1000)
    registry.add(image)
    host = "registry.example:5000"  # exists for the proxy alone
    puller.trust(host)
    registry.fault("any", wants_basic)
    log_in(puller, host, USER, PASSWORD, "--no-verify")
    with Proxy(registry.server.server_port) as proxy:
        answer = pull_with_settings(puller, f"{host}/app:1", {"HTTPS_PROXY": f"http://anna:geheim@{proxy.host}"})
        assert digest_in(answer) == image.digest
        assert {line for line, _ in proxy.asked} == {f"CONNECT {host} HTTP/1.1"}
        for _, headers in proxy.asked:
            assert headers["Proxy-Authorization"] == "Basic " + basic_of("anna", "geheim") and "Authorization" not in headers
        assert all("Proxy-Authorization" not in headers for _, _, _, headers in registry.requests)


def test_a_proxy_that_refuses_is_told_without_its_password(puller, registry):
    host = "registry.example:5000"
    puller.trust(host)
    with Proxy(registry.server.server_port) as proxy:
        proxy.refuse = 407
        answer = pull_with_settings(puller, f"{host}/app:1", {"https_proxy": f"http://anna:geheim@{proxy.host}"})
        assert "407" in answer["error"]["message"] and "geheim" not in json.dumps(answer) and registry.requests == [], answer


# ---- certs.d --------------------------------------------------------------------------------------------------------------

def test_a_registry_that_wants_to_know_its_clients_is_shown_the_certificate_of_certs_d(puller, certificates):
    image = fake.small_image(size=1000)
    with fake.Registry(certificates, known=True) as registry:
        reference = registry.add(image)
        puller.trust(registry.host)
        assert_refused(puller, puller.pull(reference), "certificate required", "client.cert")
        folder = puller.config / "coracle" / "certs.d" / registry.host
        shutil.copy(certificates / "client.cert", folder)
        assert_refused(puller, puller.pull(reference), "client.key")
        shutil.copy(certificates / "client.key", folder)
        assert_pulled(puller, puller.pull(reference), image)
