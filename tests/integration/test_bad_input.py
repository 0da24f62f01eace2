"""What bad input gets: an error naming the thing and the fix, the right exit code, valid JSON, and nothing left behind."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

pytestmark = pytest.mark.needs("thorough")
sandbox = pytest.mark.needs("sandbox")


def assert_refused(record, code, *words):
    """Nothing of the program ran, and the message names `words`."""
    assert record.call.code == code and record["success"] is False and record["exit_code"] is None, record
    assert all(word in record["message"] for word in words), record
    assert not record["stdout"], record


# ---- options ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("flag, value", [
    ("--memory", "512x"), ("--memory", "0"), ("--memory", "-1"), ("--memory", "99999999999g"), ("--cpus", "many"),
    ("--pids", "1.5"), ("--timeout", "soon"), ("--tmpfs", "relative"), ("--volume", "nocolon"), ("--network", "moon"),
    ("--workdir", "relative"), ("--env", ""),
])
def test_a_bad_value_is_named_with_its_flag(coracle, flag, value):
    record = coracle.record(flag, value, "busybox", "--", "true")
    assert_refused(record, 125, flag)
    assert value in record["message"] + (record["hint"] or ""), record


def test_an_unknown_option_is_named(coracle):
    assert_refused(coracle.record("--memroy", "64m", "busybox", "--", "true"), 125, "--memroy")


def test_without_json_the_error_is_one_clear_line_on_stderr(coracle):
    done = coracle.run("--memory", "512x", "busybox", "--", "true")
    assert (done.code, done.stdout) == (125, "") and "--memory" in done.stderr and "512x" in done.stderr, done
    assert len(done.stderr.strip().splitlines()) <= 2, done


@pytest.mark.parametrize("mode", ["bridge", "egress"])
def test_networks_not_built_yet_say_so(coracle, mode):
    record = coracle.record("--network", mode, "busybox", "--", "true")
    assert record.call.code in (123, 125) and "not" in record["message"] and mode in record["message"], record


@pytest.mark.lacks("overlay")
def test_a_writable_root_without_overlayfs_is_refused_with_the_fix(coracle):
    record = coracle.record("--writable", "busybox", "--", "true")
    assert_refused(record, 123, "overlayfs")
    assert "modprobe" in record["hint"], record


# ---- images -------------------------------------------------------------------------------------------------------------

def test_an_unknown_image_is_named_with_the_fix(coracle):
    record = coracle.record("nosuchimage", "--", "true")
    assert_refused(record, 125, "nosuchimage")
    assert record["reason"] == "image_failed" and "import" in record["hint"], record


def blob_of(layout, kind):
    """The file of the layout's manifest, config or layer."""
    def path(descriptor):
        return layout / "blobs" / descriptor["digest"].replace(":", "/")
    manifest = path(json.loads((layout / "index.json").read_text())["manifests"][0])
    if kind == "manifest":
        return manifest
    content = json.loads(manifest.read_text())
    return path(content["config"] if kind == "config" else content["layers"][0])


@pytest.fixture
def broken(busybox_layout, tmp_path):
    """A copy of the default image, to be broken."""
    return pathlib.Path(shutil.copytree(busybox_layout, tmp_path / "broken"))


def assert_no_import(coracle, source, *words):
    done = coracle.call("import", source, "--tag", "broken")
    assert done.code != 0 and done.code < 128 and all(word in done.stderr for word in words), done
    listed = coracle.call("images")
    assert listed.code == 0 and "broken" not in listed.stdout, listed


@pytest.mark.parametrize("kind", ["manifest", "config", "layer"])
def test_a_blob_that_is_not_its_digest_is_refused(empty_coracle, broken, kind):
    blob = blob_of(broken, kind)
    content = bytearray(blob.read_bytes())
    content[len(content) // 2] ^= 1
    blob.write_bytes(content)
    assert_no_import(empty_coracle, broken, blob.name[:12])


def test_a_truncated_layer_is_refused(empty_coracle, broken):
    blob = blob_of(broken, "layer")
    blob.write_bytes(blob.read_bytes()[:1000])
    assert_no_import(empty_coracle, broken, blob.name[:12])


def test_a_missing_blob_is_refused(empty_coracle, broken):
    blob = blob_of(broken, "config")
    blob.unlink()
    assert_no_import(empty_coracle, broken, blob.name[:12])


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08\x00garbage", b"\0" * 4096],
                         ids=["empty", "text", "gzip", "zeros"])
def test_a_file_that_is_no_image_is_refused(empty_coracle, tmp_path, content):
    source = tmp_path / "source.tar"
    source.write_bytes(content)
    assert_no_import(empty_coracle, source, "source.tar")


def test_a_source_that_is_not_there_is_refused(empty_coracle, tmp_path):
    assert_no_import(empty_coracle, tmp_path / "nothing", "nothing")


def rootfs_tar(path, *members):
    """A tar of (name, type, link, content)."""
    with tarfile.open(path, "w") as tar:
        for name, kind, link, content in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.size = kind, link, len(content)
            import io
            tar.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize("members", [
    [("../escaped", tarfile.REGTYPE, "", b"x")],
    [("a", tarfile.SYMTYPE, "../../..", b""), ("a/escaped", tarfile.REGTYPE, "", b"x")],
    [("a", tarfile.SYMTYPE, "{outside}", b""), ("a/escaped", tarfile.REGTYPE, "", b"x")],
    [("a", tarfile.LNKTYPE, "../../../canary", b""), ("a", tarfile.REGTYPE, "", b"x")],
    [("a", tarfile.SYMTYPE, "{outside}/canary", b""), ("a", tarfile.REGTYPE, "", b"x")],
])
def test_hostile_paths_write_nothing_outside(empty_coracle, tmp_path, members):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary").write_text("alive")
    members = [(name, kind, link.format(outside=outside), content) for name, kind, link, content in members]
    source = rootfs_tar(tmp_path / "hostile.tar", *members)
    done = empty_coracle.call("import", source, "--tag", "hostile")
    assert done.code < 128, done
    assert sorted(os.listdir(outside)) == ["canary"] and (outside / "canary").read_text() == "alive", done
    assert sorted(os.listdir(tmp_path)) in (["hostile.tar", "outside", "store"], ["hostile.tar", "outside"]), done


# ---- the host -----------------------------------------------------------------------------------------------------------

@sandbox
def test_a_runtime_that_is_not_installed_is_named(coracle):
    record = coracle.record("--runtime", "/no/such/runc", "busybox", "--", "true")
    assert record.call.code in (123, 125) and "/no/such/runc" in record["message"], record


@sandbox
def test_a_program_that_is_no_runtime_is_named_as_such(coracle, work):
    program = work / "runc"  # by its name it is one
    program.symlink_to("/bin/true")
    record = coracle.record("--runtime", program, "busybox", "--", "true")
    program.unlink()
    assert record.call.code == 125 and "created no container" in record["message"], record
    assert str(program) in record["message"] and "--runtime" in record["hint"], record


@sandbox
def test_a_script_with_windows_line_ends_or_without_its_interpreter_gets_the_reason(coracle, tmp_path):
    script = tmp_path / "script"
    for text, words in (("#!/bin/sh\r\necho hello\r\n", "CR LF"), ("#!/usr/bin/perl\n", "interpreter")):
        script.write_bytes(text.encode())
        record = coracle.record("--script", script, "busybox")
        assert (record["reason"], record["exit_code"]) == ("exec_failed", 127) and words in record["hint"], record


@pytest.mark.needs("user")
@pytest.mark.lacks("sandbox")
def test_without_user_namespaces_the_fix_is_named(coracle):
    record = coracle.record("busybox", "--", "true")
    assert record.call.code in (123, 125) and not record["stdout"], record
    assert "user namespace" in record["message"], record
    assert "user_namespaces" in record["hint"] or "userns" in record["hint"], record


@pytest.mark.needs("user")
def test_an_unwritable_store_is_named(coracle, busybox_layout, tmp_path):
    store = tmp_path / "locked"
    store.mkdir(mode=0o500)
    done = coracle.call("import", busybox_layout, "--tag", "busybox", store=store)
    assert done.code != 0 and str(store) in done.stderr, done


@pytest.mark.needs("root")
def test_a_full_disk_is_an_error_that_leaves_a_working_store(empty_coracle, busybox_layout, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "full", disk], check=True)
    try:
        done = empty_coracle.call("import", busybox_layout, "--tag", "busybox", store=disk / "store")
        assert done.code != 0 and done.code < 128 and "No space left" in done.stderr, done
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        assert empty_coracle.call("import", busybox_layout, "--tag", "busybox", store=disk / "store").code == 0
    finally:
        subprocess.run(["umount", disk], check=True)


# ---- what the image or request names --------------------------------------------------------------------------------------

@sandbox
def test_a_missing_working_directory_is_named(coracle):
    record = coracle.shell("true", "-w", "/no/such/place")
    assert record.call.code in (125, 126, 127) and "/no/such/place" in record["message"], record


@sandbox
@pytest.mark.parametrize("user", ["nobodyatall", "root:nogroupatall"])
def test_an_unknown_user_is_named(coracle, user):
    record = coracle.shell("true", "-u", user)
    assert_refused(record, 125, user.split(":")[-1])


@sandbox
@pytest.mark.lacks("subids", "root")
def test_a_user_that_needs_subordinate_ids_is_refused_with_the_fix(coracle):
    record = coracle.shell("true", "-u", "1000")
    assert record.call.code in (123, 125) and "1000" in record["message"] and "subuid" in record["message"] + record["hint"], record


def test_digests_are_those_of_the_bytes(coracle, busybox_layout):
    """The image that runs is the image that was imported."""
    index = json.loads((busybox_layout / "index.json").read_text())
    digest = index["manifests"][0]["digest"]
    assert digest == "sha256:" + hashlib.sha256(blob_of(busybox_layout, "manifest").read_bytes()).hexdigest()
    listed = coracle.call("images")
    assert listed.code == 0 and digest[7:19] in listed.stdout, listed
