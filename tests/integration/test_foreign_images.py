"""Images that others made are imported and run, or refused in words: the kit beside the repository ($CORACLE_TEST_KIT)."""
import os
import subprocess

import pytest

import harness

pytestmark = pytest.mark.needs("kit", "machine")


def real_image(name, folder):
    """The archive, or a copy of the layout with its symbolic links, which are text files in the kit."""
    source = harness.KIT / "real" / name
    if not (source / "layout").is_dir():
        return next(source.glob("image.tar*"))
    layout = folder / name
    subprocess.run(["cp", "-r", "--no-preserve=mode", source / "layout", layout], check=True)
    for blob in layout.glob("blobs/*/*"):
        if blob.stat().st_size < 100 and (target := blob.read_bytes()).startswith(b"../"):
            blob.unlink()
            blob.symlink_to(os.fsdecode(target))
            assert blob.is_file(), blob
    return layout


# What runs in it and what that prints.
RUN = {
    "busybox-glibc-amd64": (["echo", "hello"], "hello"),
    "hello-world-amd64": ([], "Hello from Docker!"),
    "trivy-alpine-310-gz": (["cat", "/etc/alpine-release"], "3.10"),
    "alpine-rootfs-3.20": (["cat", "/etc/alpine-release"], "3.20"),
    "dive-docker-save-old": (["echo", "hello"], "hello"),
}


@pytest.mark.parametrize("name", RUN)
def test_an_image_of_others_is_imported_and_runs(empty_coracle, tmp_path, name):
    command, words = RUN[name]
    done = empty_coracle.call("import", real_image(name, tmp_path), "--tag", "image")
    assert done.code == 0, done
    ran = empty_coracle.run("image", *(["--", *command] if command else []))
    assert ran.code == 0 and words in ran.stdout, ran


@pytest.mark.parametrize("name", ["podman-docker-xz", "podman-oci-gz", "cimage-almost-empty", "ggcr-two-images", "ggcr-whiteout",
                                  "regclient-testrepo"])
def test_an_image_without_a_program_is_imported(empty_coracle, tmp_path, name):
    done = empty_coracle.call("import", real_image(name, tmp_path))
    assert done.code == 0 and done.stdout.count("sha256:") >= (2 if "two" in name else 1), done


@pytest.mark.parametrize("name, program", {"busybox-musl-arm64": "sh", "ggcr-docker-save-v25": "/hello", "dive-oci-gzip": None,
                                           "dive-oci-zstd": None}.items())
def test_an_image_for_another_machine_is_imported_and_its_program_refused_in_words(empty_coracle, tmp_path, name, program):
    done = empty_coracle.call("import", real_image(name, tmp_path), "--tag", "image")
    assert done.code == 0, done
    record = empty_coracle.record("image", "--", program or "/README.md")
    assert any("linux/arm64" in warning and "linux/amd64" in warning for warning in record["warnings"]), record
    assert record["reason"] == "exec_failed" and record["exit_code"] == 126, record
    assert not program or "linux/arm64" in record["hint"], record


@pytest.mark.parametrize("name, words", {"ggcr-layout-helm": "not a container image", "ggcr-no-manifest": "manifest.json"}.items())
def test_what_is_no_image_is_refused_in_words(empty_coracle, tmp_path, name, words):
    done = empty_coracle.call("import", real_image(name, tmp_path), "--tag", "image")
    assert done.code == 125 and words in done.stderr, done
