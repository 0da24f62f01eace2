"""Hostile and odd images are met as the kit's case files say, and nothing outside changes ($CORACLE_TEST_KIT)."""
import contextlib
import importlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading

import pytest

import harness

pytestmark = pytest.mark.needs("kit", "machine")

# Making the bombs takes a minute.
BOMBS = ["--bombs"] if os.geteuid() == 0 or os.environ.get("CORACLE_TEST_BOMBS") else []


def names():
    """The kit's cases; one that is skipped where there is no kit."""
    if not harness.KIT.is_dir():
        return ["absent"]
    listed = subprocess.run([sys.executable, harness.KIT / "make_hostile.py", "--list", *BOMBS], capture_output=True, text=True, check=True)
    images = re.findall(r'^@?img\("([^"]+)"', (harness.KIT / "make_images.py").read_text(), re.MULTILINE)
    return [*(line.split()[0] for line in listed.stdout.splitlines()), *images]


@pytest.fixture(scope="session")
def made(work, tmp_path_factory):
    """The cases in a folder and the module that made them; its canary lies on the stores' file system."""
    os.environ["CORACLE_CANARY"] = str(work / "canary")
    sys.path.insert(0, str(harness.KIT))
    try:
        module = importlib.import_module("make_hostile")
    finally:
        sys.path.remove(str(harness.KIT))
    folder = tmp_path_factory.mktemp("kit")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    for script, options in (("make_hostile.py", BOMBS), ("make_images.py", ["--busybox", "/bin/busybox"])):
        subprocess.run([sys.executable, harness.KIT / script, folder, *options], env=environment, check=True, capture_output=True)
    return folder, module


def bytes_on_disk(tree):
    total = 0
    for folder, _, names in os.walk(tree):  # what goes away meanwhile is passed over
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total


class Peak:
    """The most bytes that the files of a tree took while it was looked at."""

    def __init__(self, tree):
        self.tree, self.most, self.end = tree, 0, threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.end.wait(0.05):
            self.most = max(self.most, bytes_on_disk(self.tree))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()


def import_within(coracle, source, cost):
    """The import, and what it broke of the bounds that the case sets."""
    with Peak(coracle.store) as disk:
        done = coracle.call("import", source, timeout=cost.get("seconds", 60) * 2)
    broken = []
    if disk.most > cost.get("disk_mb", 1 << 30) << 20:
        broken.append(f"{disk.most >> 20} MiB on disk")
    if "mem_mb" in cost:
        # A process of its own, so that the largest child was this import.
        script = "import os, resource, subprocess, sys; subprocess.run(sys.argv[1:], stderr=-3, stdout=-3); " \
                 "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        peak = subprocess.run([sys.executable, "-c", script, *coracle.argv("import", source)], env=coracle.environment,
                              capture_output=True, text=True, check=True)
        if int(peak.stdout) >> 10 > cost["mem_mb"]:
            broken.append(f"{int(peak.stdout) >> 10} MiB of memory")
    return done, broken


def nothing_came_in(coracle):
    listed = json.loads(coracle.call("images", "--json").stdout)["images"]
    trees = list((coracle.store / "layers").glob("*")) if (coracle.store / "layers").is_dir() else []
    scratch = [name for name in os.listdir(coracle.store / "tmp") if name != ".sweep"]
    return not listed and not trees and not scratch


def is_clean(done):
    return done.code in (123, 125, 126, 127) and done.stderr.startswith("coracle: ") and "internal" not in done.stderr


KINDS = {"file": stat.S_ISREG, "dir": stat.S_ISDIR, "link": stat.S_ISLNK, "fifo": stat.S_ISFIFO}


def differences(root, case):
    """What the case says of the tree and is not so."""
    for name in case.get("absent", []):
        if os.path.lexists(root / name):
            yield f"{name} is there"
    for name, wanted in case.get("tree", {}).items():
        path = root / name
        if not os.path.lexists(path):
            yield f"{name} is not there"
            continue
        status = path.lstat()
        if wanted["t"] in KINDS and not KINDS[wanted["t"]](status.st_mode):
            yield f"{name} has the mode {status.st_mode:o}"
            continue
        found = {"mode": f"{stat.S_IMODE(status.st_mode):04o}", "size": status.st_size, "nlink": status.st_nlink,
                 "link": os.readlink(path) if stat.S_ISLNK(status.st_mode) else None}
        if "data" in wanted and stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
            found["data"] = path.read_bytes().decode(errors="replace")
        for key, value in found.items():
            if key in wanted and value != (wanted[key].lstrip("0").rjust(4, "0") if key == "mode" else wanted[key]):
                yield f"{name}: {key} is {value!r}, not {wanted[key]!r}"


def name_of_image(coracle):
    """The one tagged "t" where there are several."""
    found = [entry["ref"] for entry in json.loads(coracle.call("images", "--json").stdout)["images"]]
    return next((ref for ref in found if ref.rpartition(":")[2] == "t"), found[0])


def bundle_of(coracle, reference, target, *options):
    """A portable bundle: the whole tree as it would be shown, and who the program would be."""
    done = coracle.call("bundle", *options, "-o", target, reference, "--", "/bin/x")
    return done, target / "rootfs"


def check_accepted(coracle, case, folder, features):
    reference = name_of_image(coracle)
    if case["stage"] == "run":
        ran = coracle.run(reference, timeout=30)
        assert case["expect"] != "reject" or is_clean(ran), ran
        return
    done, root = bundle_of(coracle, reference, folder / "bundle", "--user", "0:0", "--workdir", "/")
    assert done.code == 0, done
    wrong = list(differences(root, case))
    assert not wrong, wrong
    if "user" in case:
        done, _ = bundle_of(coracle, reference, folder / "as-user")
        assert done.code == 0, done
        user = json.loads((folder / "as-user" / "config.json").read_text())["process"]["user"]
        # Where no other id is mapped the image's user is container root, with a warning.
        assert [user["uid"], user["gid"]] == (case["user"] if {"root", "subids"} & features else [0, 0]), user


@pytest.mark.parametrize("name", names())
def test_an_image_is_met_as_its_case_says(empty_coracle, made, tmp_path, name, host_features):
    folder, module = made
    case = json.loads((folder / name / "case.json").read_text())
    source = folder / name / ("layout" if case["kind"] == "oci-layout" else case.get("file", "image.tar"))
    module.canary()
    before = module.canary_state()
    done, broken = import_within(empty_coracle, source, case.get("cost", {}))
    if done.code == 0:
        assert case["expect"] != "reject" or case["stage"] == "run", done
        check_accepted(empty_coracle, case, tmp_path, host_features)
    else:
        assert case["expect"] != "accept", done
        assert is_clean(done) and nothing_came_in(empty_coracle), done
    assert module.canary_state() == before and not broken, broken
