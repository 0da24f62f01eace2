"""An import is one pass that leaves a whole image or nothing, however it ends."""
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import tarfile
import time

import pytest

import harness

# What a store does with an image does not depend on the kernel: a guest, ten times slower, would add nothing.
pytestmark = pytest.mark.needs("machine")

DEVICE, FIFO, LINK, HARD, DIR, FILE = tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.REGTYPE


def layer(*entries):
    """A tar of (name, type, content or target, mode)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, kind, content, mode in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.mtime = kind, mode, 1_700_000_000
            data = content.encode() if kind == FILE else b""
            info.size, info.linkname = len(data), content if kind in (LINK, HARD) else ""
            info.devmajor, info.devminor = (1, 3) if kind == DEVICE else (0, 0)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def save(path, *layers, compress=lambda tar: tar):
    """An OCI layout of plain or compressed layers."""
    blobs = path / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        (blobs / digest).write_bytes(data)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}
    config = {"os": "linux", "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine], "config": {},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest() for tar in layers]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blob(json.dumps(config).encode(), "config.v1+json"),
                "layers": [blob(compress(tar), "layer.v1.tar") for tar in layers]}
    entry = blob(json.dumps(manifest).encode(), "manifest.v1+json")
    (path / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    (path / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    return path


def scratch(store):
    folder = store / "tmp"
    return sorted(set(os.listdir(folder)) - {".sweep"}) if folder.exists() else []


def many_files(count=3000):
    return layer(*[(f"d{n % 50}/f{n}", FILE, str(n) * 200, 0o644) for n in range(count)])


def test_standard_input_is_a_source(empty_coracle, tmp_path, busybox_layout):
    archive = tmp_path / "image.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(busybox_layout, arcname=".")
    done = empty_coracle.call("import", "-", "--tag", "piped", stdin=archive.read_bytes())
    assert done.code == 0 and done.stdout.startswith("piped  sha256:"), done
    assert scratch(empty_coracle.store) == []


def test_devices_are_skipped_with_a_warning(empty_coracle, tmp_path):
    image = save(tmp_path / "image", layer(("null", DEVICE, "", 0o666), ("f", FILE, "x", 0o644)))
    done = empty_coracle.call("import", image, "--json")
    warning, = done.json["images"][0]["warnings"]
    assert "'null': devices are not unpacked" in warning, done
    again = empty_coracle.call("import", save(tmp_path / "again", layer(("zero", DEVICE, "", 0o666))))
    assert "warning: " in again.stderr and "'zero'" in again.stderr, again


def test_an_import_that_is_killed_leaves_nothing_that_the_next_one_minds(empty_coracle, tmp_path):
    image = save(tmp_path / "image", many_files(), layer(("top", FILE, "t", 0o644)))
    empty_coracle.call("images")
    started = time.monotonic()
    assert empty_coracle.call("import", image, store=tmp_path / "other").code == 0
    whole = time.monotonic() - started
    for _ in range(10):
        process = empty_coracle.start("import", image)
        time.sleep(random.uniform(0, whole))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # The helper program dies with it; the next start sweeps what both left.
        harness.wait_for(lambda: not harness.descendants(), "the helper's end")
    done = empty_coracle.call("import", image)
    assert done.code == 0 and scratch(empty_coracle.store) == [], done
    for blob in (empty_coracle.store / "blobs" / "sha256").iterdir():
        assert hashlib.sha256(blob.read_bytes()).hexdigest() == blob.name
    trees = list((empty_coracle.store / "layers").glob("*/*/fs"))
    assert len(trees) == 2 and sorted(len(list(tree.rglob("f*"))) for tree in trees) == [0, 3000], trees


def test_five_at_once_do_the_work_once(empty_coracle, tmp_path):
    image = save(tmp_path / "image", many_files(500))
    processes = [empty_coracle.start("import", image) for _ in range(5)]
    for process in processes:
        assert process.communicate(timeout=60 * harness.PATIENCE)[0].count(b"sha256:") == 1 and process.returncode == 0
    assert scratch(empty_coracle.store) == []
    assert len(list((empty_coracle.store / "layers").iterdir())) == 1


@pytest.mark.needs("root")
def test_a_full_disk_is_named_and_left_clean(coracle, tmp_path):
    image = save(tmp_path / "image", layer(*[(f"f{n}", FILE, "x" * 1_000_000, 0o644) for n in range(30)]))
    store = tmp_path / "disk" / "store"
    store.parent.mkdir()
    words = " ".join(map(str, coracle.argv("import", image, store=store)))
    script = f"mount -t tmpfs -o size=20m tmpfs {store.parent} && {words}; echo $? $(ls {store}/tmp {store}/layers {store}/blobs/sha256)"
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=coracle.environment, capture_output=True, text=True, check=False)
    assert "No space left on device" in done.stderr and f"the file system of '{store}' is full" in done.stderr, done
    assert done.stdout.split()[0] == "125" and not any(word.isalnum() for word in done.stdout.split()[1:]), done


# ---- overlay and flat ---------------------------------------------------------------------------------------------------

def random_layer(dice, names):
    entries, plain = [], set()
    for _ in range(dice.randrange(3, 25)):
        name = "/".join(dice.choice("abcd") for _ in range(dice.randrange(1, 4)))
        if any(name == other or name.startswith(other + "/") or other.startswith(name + "/") for other in plain):
            continue  # one layer does not use a file as a directory
        kind = dice.choice(["dir", "file", "file", "link", "hard", "whiteout", "opaque", "fifo"])
        if kind == "dir":
            entries.append((name, DIR, "", dice.choice([0o755, 0o700, 0o1777])))
        elif kind == "file":
            entries.append((name, FILE, str(dice.random()), dice.choice([0o644, 0o4755])))
            names.append(name)
            plain.add(name)
        elif kind == "link":
            plain.add(name)
            entries.append((name, LINK, dice.choice(["a", "../b", "/c/a", "nowhere"]), 0o777))
        elif kind == "hard" and names:
            plain.add(name)
            entries.append((name, HARD, dice.choice(names), 0o644))
        elif kind == "whiteout":
            head, _, tail = name.rpartition("/")
            entries.append((f"{head}/.wh.{tail}" if head else f".wh.{tail}", FILE, "", 0o644))
        elif kind == "opaque":
            entries.append((f"{name}/.wh..wh..opq", FILE, "", 0o644))
        elif kind == "fifo":
            plain.add(name)
            entries.append((name, FIFO, "", 0o644))
    return entries


def describe(root):
    """Everything that a program could tell of a tree but inodes and the root's own looks."""
    tree = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = pathlib.Path(folder, name)
            if not os.path.lexists(path):
                continue  # overlayfs lists a whiteout, and shows nothing there, in a directory that only one layer has
            status = path.lstat()
            content = os.readlink(path) if stat.S_ISLNK(status.st_mode) else path.read_bytes() if stat.S_ISREG(status.st_mode) else ""
            tree[str(path.relative_to(root))] = (oct(status.st_mode), status.st_uid, status.st_mtime_ns, content)
    return tree


@pytest.mark.needs("root", "overlay")
def test_overlay_and_flat_show_the_same_tree(empty_coracle, tmp_path):
    """Images by dice: those that are refused are refused in both forms, the others look the same."""
    compared = 0
    for seed in range(30):
        dice, names = random.Random(seed), []
        layers = [layer(*random_layer(dice, names)) for _ in range(dice.randrange(2, 5))]
        image = save(tmp_path / f"image{seed}", *layers)
        if empty_coracle.call("import", image, "--tag", f"image{seed}").code != 0:
            continue
        plan = empty_coracle.call("plan", f"image{seed}", "--", "true")
        assert plan.code == 0, plan
        stack = json.loads(plan.stdout)["rootfs"]["layers"]
        bundle = tmp_path / f"bundle{seed}"
        assert empty_coracle.call("bundle", "-o", bundle, f"image{seed}", "--", "true").code == 0
        merged, empty = tmp_path / f"merged{seed}", tmp_path / f"empty{seed}"
        merged.mkdir(), empty.mkdir()
        lower = ":".join([*reversed(stack), str(empty)])
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"ro,lowerdir={lower}", merged], check=True)
        try:
            overlay = describe(merged)
        finally:
            subprocess.run(["umount", merged], check=True)
        flat = describe(bundle / "rootfs")
        for name in set(flat) - set(overlay):  # what the bundle adds for its mounts
            assert stat.S_ISDIR(int(flat[name][0], 8)) or name.startswith("etc/"), (seed, name)
        assert {name: flat.get(name) for name in overlay} == overlay, seed
        compared += 1
    assert compared >= 10, compared


def test_where_coracle_image_cannot_start_the_same_code_runs_here(empty_coracle, busybox_layout, tmp_path, work):
    """As where libisal2 is missing: the loader exits with 127."""
    folder = work / "alone"
    folder.mkdir()
    shutil.copy2(harness.PROGRAM, folder / "coracle")
    broken = folder / "coracle-image"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    command = [folder / "coracle", "--store", empty_coracle.store]
    done = subprocess.run([*command, "import", busybox_layout, "--tag", "busybox"], capture_output=True, text=True,
                          env=empty_coracle.environment, timeout=60)
    pulled = subprocess.run([*command, "pull", "localhost:1/app"], capture_output=True, text=True,
                            env=empty_coracle.environment, timeout=60)
    shutil.rmtree(folder)
    assert done.returncode == 0 and "busybox" in empty_coracle.call("images").stdout, done
    assert pulled.returncode == 125 and "libcurl4" in pulled.stderr, pulled
