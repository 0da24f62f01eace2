"""Without overlayfs the sandbox has the same root file system, made of bind mounts."""
import subprocess

import pytest

import harness

LISTING = ("find / \\( -path /proc -o -path /sys -o -path /dev \\) -prune -o -print | sort | "
           "while read -r f; do stat -c '%n %a %u %g %F' \"$f\"; test -f \"$f\" && md5sum <\"$f\"; done")


class Old(harness.Coracle):
    """coracle on a kernel that calls itself 2.6: too old for overlayfs in user namespaces."""

    def argv(self, *args, **options):
        return ["setarch", "--uname-2.6", *super().argv(*args, **options)]


@pytest.fixture
def flat(coracle):
    old = Old(coracle.store, coracle.environment["HOME"], coracle.environment.get("XDG_RUNTIME_DIR"))
    assert old.call("plan", "busybox", "--", "true").json["rootfs"]["kind"] == "flat"
    return old


@pytest.mark.needs("user", "sandbox", "overlay", "machine")
def test_flat_and_overlay_show_the_same(coracle, flat):
    shown = flat.shell(LISTING)["stdout"]
    assert shown.count("\n") > 100 and shown == coracle.shell(LISTING)["stdout"]


@pytest.mark.needs("user", "sandbox", "overlay", "machine")
def test_a_flat_root_takes_volumes_anywhere_and_no_writes(flat, tmp_path):
    (tmp_path / "file").write_text("content")
    record = flat.shell("cat /usr/share/not/there/file; touch /bin/x || touch /x || touch /etc/x || touch /etc/passwd; echo $?",
                        "-v", f"{tmp_path}:/usr/share/not/there:ro")
    assert record["stdout"] == "content1\n", record


@pytest.mark.needs("sandbox")
@pytest.mark.lacks("overlay")
def test_the_plan_says_flat_and_du_counts_the_tree(coracle):
    assert coracle.call("plan", "busybox", "--", "true").json["rootfs"]["kind"] == "flat"
    assert coracle.run("busybox", "--", "echo", "hello").stdout == "hello\n"
    assert coracle.call("du", "--json").json["flat"]["count"] >= 1


@pytest.mark.needs("user", "sandbox", "overlay", "machine")
def test_the_tree_goes_with_its_image(empty_coracle, busybox_layout):
    assert empty_coracle.call("import", busybox_layout, "--tag", "busybox").code == 0
    old = Old(empty_coracle.store, empty_coracle.environment["HOME"], empty_coracle.environment.get("XDG_RUNTIME_DIR"))
    assert old.run("busybox", "--", "true").code == 0
    removed = {item["kind"] for item in empty_coracle.call("rmi", "--json", "busybox").json["removed"]}
    assert removed == {"name", "blob", "layer", "flat"}
    assert subprocess.run(["find", empty_coracle.store / "flat", "-mindepth", "1"], capture_output=True).stdout == b""
