"""Images are kept: shown, named, saved, measured and removed, never from under somebody who uses them."""
import json
import os
import random
import signal
import subprocess
import threading
import time

import pytest

import harness

# What a store does with an image does not depend on the kernel: a guest, ten times slower, would add nothing.
pytestmark = pytest.mark.needs("machine")


@pytest.fixture
def store(empty_coracle, busybox_layout):
    """A store of this test's own with busybox."""
    assert empty_coracle.call("import", busybox_layout, "--tag", "busybox").code == 0
    return empty_coracle


def content(coracle):
    """Every blob and every folder of unpacked layers."""
    found = set()
    for folder in ("blobs/sha256", "layers", "flat"):
        if (coracle.store / folder).exists():
            found |= {f"{folder}/{name}" for name in os.listdir(coracle.store / folder)}
    return found


def temporary(coracle):
    return set(os.listdir(coracle.store / "tmp")) - {".sweep"}


def ok(done):
    assert done.code == 0, done
    return done


def test_inspect_shows_the_image_as_json_and_as_text(store, host_features):
    image = ok(store.call("inspect", "--json", "busybox")).json["image"]
    assert image["names"] == ["busybox"] and image["platform"].startswith("linux/")
    if "overlay" in host_features:  # a flat tree is the image's, not a layer's
        assert image["layers"][0]["unpacked_size"] > 100_000
    assert image["config"]["rootfs"]["diff_ids"] == [layer["diff_id"] for layer in image["layers"]]
    text = ok(store.call("inspect", "busybox")).stdout
    assert image["manifest_digest"] in text and "LAYER" in text


def test_a_second_name_keeps_the_image_when_the_first_one_goes(store, host_features):
    ok(store.call("tag", "busybox", "registry.example:5000/tools/bb:1"))
    ok(store.call("rmi", "busybox"))
    assert store.call("inspect", "busybox").code == 125
    assert ok(store.call("inspect", "--json", "bb:1")).json["image"]["names"] == ["registry.example:5000/tools/bb:1"]
    if "sandbox" in host_features:
        assert store.run("registry.example:5000/tools/bb:1", "--", "echo", "hello").stdout == "hello\n"


def test_the_last_name_takes_everything_along(store):
    report = ok(store.call("rmi", "--json", "busybox")).json
    assert report["removed"][0] == {"kind": "name", "what": "busybox", "size": 0}
    assert report["size"] > 1_000_000 and not report["warnings"]
    assert not content(store) and not temporary(store)


def test_the_host_s_name_is_reserved(store, busybox_layout):
    for call in (["tag", "busybox", "host"], ["import", busybox_layout, "--tag", "host:latest"]):
        done = store.call(*call)
        assert done.code == 125 and "reserved" in done.stderr, done


def test_gc_says_what_would_go_and_then_removes_it(store, busybox_layout):
    (store.store / "blobs" / "sha256" / ("0" * 64)).write_text("garbage")
    told = ok(store.call("gc", "--dry-run", "--json")).json
    assert [item["what"] for item in told["removed"]] == ["blobs/sha256/" + "0" * 64]
    assert ok(store.call("gc", "--json")).json["removed"] == told["removed"]
    assert not ok(store.call("gc", "--json")).json["removed"]
    ok(store.call("gc", "--older-than", "1h"))
    assert "busybox" in ok(store.call("images")).stdout
    ok(store.call("gc", "--keep-size", "1k"))
    assert "busybox" not in ok(store.call("images")).stdout and not content(store)


def test_du_adds_up(store):
    usage = ok(store.call("du", "--json")).json
    assert usage["images"][0]["own"] == usage["total"] > 0 and usage["images"][0]["shared"] == 0
    assert "busybox" in ok(store.call("du")).stdout


def test_what_is_saved_comes_back(store, tmp_path):
    digest = ok(store.call("inspect", "--json", "busybox")).json["image"]["manifest_digest"]
    ok(store.call("save", "busybox", "-o", tmp_path / "image.tar"))
    ok(store.call("save", "busybox", "-o", f"{tmp_path}/layout/"))
    (tmp_path / "piped.tar").write_bytes(ok(store.call("save", "busybox", "-o", "-")).stdout_bytes)
    for source in ("image.tar", "layout", "piped.tar"):
        ok(store.call("rmi", "busybox"))
        ok(store.call("import", tmp_path / source))
        assert ok(store.call("inspect", "--json", "busybox")).json["image"]["manifest_digest"] == digest


def test_saving_over_an_archive_keeps_the_old_one_where_it_fails(store, tmp_path):
    (tmp_path / "image.tar").write_text("old")
    assert store.call("save", "elephant", "-o", tmp_path / "image.tar").code == 125
    assert os.listdir(tmp_path) == ["image.tar"] and (tmp_path / "image.tar").read_text() == "old"


@pytest.mark.needs("machine")
def test_skopeo_reads_the_store_and_what_it_saves(store, tmp_path):
    name = "registry.example:5000/team/app:1.2"
    ok(store.call("tag", "busybox", name))
    ok(store.call("save", "busybox", name, "-o", tmp_path / "image.tar"))
    digest = ok(store.call("inspect", "--json", "busybox")).json["image"]["manifest_digest"]
    for place in (f"oci:{store.store}:busybox:latest", f"oci:{store.store}:{name}",
                  f"oci-archive:{tmp_path}/image.tar:busybox:latest", f"oci-archive:{tmp_path}/image.tar:{name}"):
        done = subprocess.run(["skopeo", "--insecure-policy", "inspect", place], capture_output=True, text=True)
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["Digest"] == digest


@pytest.mark.needs("sandbox")
def test_a_live_run_keeps_its_image(store):
    with store.start("run", "-i", "busybox", "--", "sh", "-c", "echo up; read x; ls /bin/busybox && wc -c < /bin/busybox",
                     stdin=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"up\n"
        report = ok(store.call("rmi", "--json", "busybox")).json
        assert report["in_use"] and [item["kind"] for item in report["removed"]] == ["name"], report
        ok(store.call("gc", "--keep-size", "1k"))
        out, err = run.communicate(b"go\n", timeout=30 * harness.PATIENCE)
        assert run.returncode == 0 and b"/bin/busybox" in out, (out, err)
    ok(store.call("gc"))
    assert not content(store)


@pytest.mark.needs("sandbox", "machine")
def test_removing_importing_and_running_side_by_side_never_breaks_a_run(store, busybox_layout):
    stop, wrong = threading.Event(), []

    def again_and_again(allowed, *args):
        while not stop.is_set():
            done = store.call(*args)
            if done.code != 0 and not any(words in done.stderr for words in allowed):
                wrong.append(done)

    threads = [threading.Thread(target=again_and_again, args=args) for args in (
        (["not in the store", "bringing an image in"], "rmi", "busybox"),
        (["bringing an image in"], "gc"),
        ([], "import", busybox_layout, "--tag", "busybox"),
        (["not in the store"], "run", "busybox", "--", "sh", "-c", "cat /bin/busybox >/dev/null"))]
    for thread in threads:
        thread.start()
    time.sleep(8)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]
    ok(store.call("import", busybox_layout, "--tag", "busybox"))
    assert store.run("busybox", "--", "echo", "hello").stdout == "hello\n"


@pytest.mark.needs("machine")
def test_a_gc_killed_at_any_moment_leaves_a_store_that_is_right(store, busybox_layout, host_features):
    generator = random.Random(7)
    for _ in range(30):
        ok(store.call("import", busybox_layout, "--tag", "busybox"))
        ok(store.call("tag", "busybox", "kept"))
        ok(store.call("rmi", "busybox"))
        with store.start("rmi", "kept") as process:
            time.sleep(generator.random() * 0.03)
            process.send_signal(signal.SIGKILL)
        for ref in ("kept",):
            if store.call("inspect", ref).code == 0:  # the name is there: then all of it is
                ok(store.call("save", ref, "-o", "/dev/null"))
        ok(store.call("import", busybox_layout, "--tag", "busybox"))
        if "sandbox" in host_features:
            assert store.run("busybox", "--", "echo", "hello").stdout == "hello\n"
    store.call("rmi", "kept")
    ok(store.call("rmi", "busybox"))
    assert not content(store) and not temporary(store)
    assert {"index.json", "index.json.lock", "oci-layout"} >= {
        name for name in os.listdir(store.store) if name.startswith(("index", "oci"))}


def layered(folder, count):
    """A layout whose image has busybox in the lowest of `count` layers and a file of its own in each."""
    import hashlib
    import io
    import tarfile
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(data):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"digest": "sha256:" + digest, "size": len(data)}

    def tar(name, data):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as out:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            out.addfile(entry, io.BytesIO(data))
        return archive.getvalue()

    program = open("/bin/busybox", "rb").read()
    tars = [tar("bin/sh", program)] + [tar(f"layers/{number}", b"x") for number in range(1, count)]
    kind = "application/vnd.oci.image."
    layers = [{"mediaType": kind + "layer.v1.tar", **put(data)} for data in tars]
    config = put(json.dumps({"os": "linux", "architecture": "amd64", "rootfs": {
        "type": "layers", "diff_ids": [layer["digest"] for layer in layers]}}).encode())
    manifest = put(json.dumps({"schemaVersion": 2, "mediaType": kind + "manifest.v1+json", "layers": layers,
                               "config": {"mediaType": kind + "config.v1+json", **config}}).encode())
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [
        {"mediaType": kind + "manifest.v1+json", **manifest}]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return folder


@pytest.mark.parametrize("count", [61, 120])
def test_many_layers_are_stacked(empty_coracle, tmp_path, host_features, count):
    ok(empty_coracle.call("import", layered(tmp_path / "deep", count), "--tag", "deep"))
    if "sandbox" in host_features:
        assert empty_coracle.run("deep", "--", "sh", "-c", "set -- /layers/*; echo $#").stdout == f"{count - 1}\n"


@pytest.mark.needs("sandbox", "overlay", "machine")
def test_more_layers_than_overlayfs_stacks_are_refused_with_words(empty_coracle, tmp_path):
    ok(empty_coracle.call("import", layered(tmp_path / "deep", 500), "--tag", "deep"))
    done = empty_coracle.run("deep", "--", "true")
    assert done.code == 125 and "500 layers" in done.stderr and "hint: " in done.stderr, done
    assert "501 layers" in empty_coracle.call("import", layered(tmp_path / "deeper", 501), "--tag", "deeper").stderr


@pytest.mark.needs("machine")
def test_subordinate_ids_in_an_image_are_measured_and_removed(empty_coracle, tmp_path):
    import tarfile
    with tarfile.open(tmp_path / "root.tar", "w") as out:
        for name, mode in (("home", 0o755), ("home/user", 0o700), ("home/user/locked", 0)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, 1000, 1000
            out.addfile(entry)
        entry = tarfile.TarInfo("home/user/file")
        entry.size, entry.mode, entry.uid, entry.gid = 1 << 20, 0o600, 1000, 1000
        out.addfile(entry, open("/dev/zero", "rb"))
    ok(empty_coracle.call("import", tmp_path / "root.tar", "--tag", "image"))
    ok(empty_coracle.call("rmi", "image"))
    assert not content(empty_coracle) and not temporary(empty_coracle)
