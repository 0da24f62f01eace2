"""A store on a file system that lacks something works as far as it can, and what it cannot take is refused with the fix."""
import json
import subprocess

import pytest

from test_import import DIR, FILE, layer, save

# NFS and its locks cannot be had without a server; the file systems here are mounted where nobody else sees them.
pytestmark = pytest.mark.needs("root", "machine")

RAMFS = "mount -t ramfs ramfs {at}"  # no extended attributes
OVERLAY = "mount -t tmpfs tmpfs {at} && mkdir {at}/l {at}/u {at}/w {at}/m && " \
          "mount -t overlay overlay -o lowerdir={at}/l,upperdir={at}/u,workdir={at}/w {at}"  # as in a container

LOW = layer(("d", DIR, "", 0o755), ("d/low", FILE, "low", 0o644))
UPPER = {
    "plain": layer(("d/new", FILE, "new", 0o644)),
    "whiteout": layer(("d/.wh.low", FILE, "", 0o644)),
    "opaque": layer(("d", DIR, "", 0o755), ("d/.wh..wh..opq", FILE, "", 0o644)),
}


class Mounted:
    """Shell words of coracle in a mount namespace of their own, the store on a file system that ends with it."""

    def __init__(self, coracle, folder):
        self.coracle, self.folder = coracle, folder
        folder.mkdir()

    def sh(self, mount, *commands):
        words = [" ".join(f"'{word}'" for word in self.coracle.argv(*command, store=self.folder / "store")) for command in commands]
        script = " && ".join([mount.format(at=self.folder), f"mkdir {self.folder}/store", *words])
        script += f"; code=$?; cd {self.folder}/store; echo left: $(ls -A tmp layers blobs/sha256 | grep -v '^.sweep$'); exit $code"
        return subprocess.run(["unshare", "-m", "sh", "-c", script], env=self.coracle.environment, capture_output=True, text=True,
                              check=False, timeout=60)


@pytest.fixture
def mounted(coracle, tmp_path):
    return Mounted(coracle, tmp_path / "disk")


@pytest.mark.parametrize("mount", [RAMFS, OVERLAY], ids=["ramfs", "overlay"])
def test_an_image_runs_from_it(mounted, mount, busybox_layout):
    done = mounted.sh(mount, ("import", busybox_layout, "--tag", "image"), ("run", "image", "--", "echo", "hello"))
    assert done.returncode == 0 and "\nhello\n" in done.stdout, done


HELD = [(RAMFS, "plain", ["low", "new"]), (RAMFS, "whiteout", []), (OVERLAY, "plain", ["low", "new"]), (OVERLAY, "opaque", [])]


@pytest.mark.parametrize("mount, upper, names", HELD, ids=lambda value: value if isinstance(value, str) and " " not in value else "")
def test_layers_that_it_can_hold_show_what_they_should(mounted, tmp_path, mount, upper, names):
    image = save(tmp_path / "image", LOW, UPPER[upper])
    bundle = tmp_path / "bundle"
    done = mounted.sh(mount, ("import", image, "--tag", "image"), ("bundle", "-o", bundle, "image", "--", "x"))
    assert done.returncode == 0 and sorted(path.name for path in (bundle / "rootfs" / "d").iterdir()) == names, done


@pytest.mark.parametrize("mount, upper, words", [(RAMFS, "opaque", "extended attributes"), (OVERLAY, "whiteout", "volume")],
                         ids=["ramfs", "overlay"])
def test_a_layer_that_it_cannot_hold_is_refused_with_the_fix_and_leaves_nothing(mounted, tmp_path, mount, upper, words):
    image = save(tmp_path / "image", LOW, UPPER[upper])
    done = mounted.sh(mount, ("import", image, "--tag", "image"))
    assert done.returncode == 125 and "hint: " in done.stderr and words in done.stderr, done
    assert done.stdout.endswith(" layers: tmp:\n"), done  # blobs may be left to the next try, or to gc


def test_a_store_from_which_nothing_may_be_executed_is_named_with_the_fix(mounted, busybox_layout):
    done = mounted.sh("mount -t tmpfs -o noexec tmpfs {at}", ("import", busybox_layout, "--tag", "image"), ("run", "--json", "image", "true"))
    record = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert done.returncode == 125 and "noexec" in record["hint"], record
