"""Images come in every form that `coracle import` promises, and run the same."""
import gzip
import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

import harness

pytestmark = pytest.mark.needs("thorough")


def pack(folder, archive, mode="w"):
    with tarfile.open(archive, mode) as tar:
        tar.add(folder, arcname=".")
    return archive


@pytest.fixture(scope="module")
def rootfs(busybox_layout, tmp_path_factory):
    """busybox as a plain folder."""
    import json
    blobs = busybox_layout / "blobs"
    path = lambda descriptor: blobs / descriptor["digest"].replace(":", "/")
    manifest = json.loads(path(json.loads((busybox_layout / "index.json").read_text())["manifests"][0]).read_text())
    folder = tmp_path_factory.mktemp("rootfs") / "rootfs"
    folder.mkdir()
    subprocess.run(["tar", "-xzf", path(manifest["layers"][0]), "-C", folder], check=True)
    return folder


def gzipped(source):
    target = source.with_name(source.name + ".gz")
    target.write_bytes(gzip.compress(source.read_bytes()))
    return target


SOURCES = {
    "layout": lambda layout, rootfs, tmp: layout,
    "oci-archive": lambda layout, rootfs, tmp: pack(layout, tmp / "image.tar"),
    "rootfs": lambda layout, rootfs, tmp: rootfs,
    "rootfs.tar": lambda layout, rootfs, tmp: pack(rootfs, tmp / "rootfs.tar"),
    "rootfs.tar.gz": lambda layout, rootfs, tmp: gzipped(pack(rootfs, tmp / "rootfs.tar")),
}


@pytest.mark.parametrize("form", SOURCES)
def test_every_form_is_imported_and_runs(empty_coracle, busybox_layout, rootfs, tmp_path, form, host_features):
    done = empty_coracle.call("import", SOURCES[form](busybox_layout, rootfs, tmp_path), "--tag", "image")
    assert done.code == 0, done
    assert "image" in empty_coracle.call("images").stdout
    if "sandbox" in host_features:
        assert empty_coracle.run("image", "--", "/bin/sh", "-c", "echo hello").stdout == "hello\n"


@pytest.mark.needs("machine")
@pytest.mark.parametrize("form", ["docker-archive", "oci-archive"])
def test_what_skopeo_writes_is_imported_and_runs(empty_coracle, busybox_layout, tmp_path, form):
    archive = tmp_path / "image.tar"
    copy_by_skopeo(busybox_layout, f"{form}:{archive}:name:tag")
    assert empty_coracle.call("import", archive, "--tag", "image").code == 0
    assert empty_coracle.run("image", "--", "echo", "hello").stdout == "hello\n"


def copy_by_skopeo(layout, target, *options):
    subprocess.run(["skopeo", "--insecure-policy", "copy", "-q", *options, f"oci:{layout}:busybox", target], check=True)


def zstd_archive(layout, tmp):
    copy_by_skopeo(layout, f"oci:{tmp}/zstd:image", "--dest-compress-format", "zstd")
    return pack(tmp / "zstd", tmp / "image.tar")


def gzipped_docker_save(layout, tmp):
    copy_by_skopeo(layout, f"docker-archive:{tmp}/image.tar:name:tag")
    return gzipped(tmp / "image.tar")


def layout_of_links(layout, tmp):
    """As the official images keep theirs: no oci-layout, blobs that are links to files beside them."""
    copy = tmp / "links"
    shutil.copytree(layout, copy)
    (copy / "oci-layout").unlink()
    for number, blob in enumerate((copy / "blobs" / "sha256").iterdir()):
        blob.rename(copy / f"part{number}")
        blob.symlink_to(f"../../part{number}")
    return copy


@pytest.mark.needs("machine")
@pytest.mark.parametrize("make", [zstd_archive, gzipped_docker_save, layout_of_links], ids=lambda make: make.__name__)
def test_forms_that_others_make_are_imported_and_run(empty_coracle, busybox_layout, tmp_path, make):
    done = empty_coracle.call("import", make(busybox_layout, tmp_path), "--tag", "image")
    assert done.code == 0, done
    assert empty_coracle.run("image", "--", "echo", "hello").stdout == "hello\n"


def test_a_second_import_changes_nothing(empty_coracle, busybox_layout):
    first = empty_coracle.call("import", busybox_layout, "--tag", "image")
    again = empty_coracle.call("import", busybox_layout, "--tag", "image")
    assert first.code == again.code == 0, again
    assert empty_coracle.call("images").stdout.count("image") == 1


def test_the_store_is_an_oci_layout_that_others_can_read(empty_coracle, busybox_layout):
    assert empty_coracle.call("import", busybox_layout, "--tag", "image").code == 0
    assert (empty_coracle.store / "oci-layout").exists() and (empty_coracle.store / "index.json").exists()
    digest = sorted(os.listdir(busybox_layout / "blobs" / "sha256"))
    assert set(digest) <= set(os.listdir(empty_coracle.store / "blobs" / "sha256"))


# ---- the portable bundle ------------------------------------------------------------------------------------------------

SCHEMAS = pathlib.Path("/usr/share/gocode/src/github.com/opencontainers/runtime-spec/schema")


@pytest.mark.needs("sandbox", "machine")
def test_a_bundle_holds_what_modes_and_owners_lock_away(empty_coracle, tmp_path):
    archive = tmp_path / "rootfs.tar"
    with tarfile.open(archive, "w") as tar:
        for name, kind, mode, uid in (("etc", tarfile.DIRTYPE, 0o755, 0), ("etc/shadow", tarfile.REGTYPE, 0, 0),
                                      ("locked", tarfile.DIRTYPE, 0, 0), ("locked/below", tarfile.REGTYPE, 0o644, 0)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.uid = kind, mode, uid
            tar.addfile(entry)
    assert empty_coracle.call("import", archive, "--tag", "image").code == 0
    bundle = tmp_path / "bundle"
    done = empty_coracle.call("bundle", "-o", bundle, "image", "--", "x")
    assert done.code == 0, done
    assert [(bundle / "rootfs" / name).stat().st_mode & 0o7777 for name in ("etc/shadow", "locked")] == [0, 0]


@pytest.mark.needs("sandbox", "machine")
def test_a_bundle_is_valid_against_the_runtime_schema(coracle, tmp_path):
    import json

    import jsonschema
    done = coracle.call("bundle", "-o", tmp_path / "bundle", "busybox", "--", "echo", "hello")
    assert done.code == 0, done
    main = json.loads((SCHEMAS / "config-schema.json").read_text())
    main.pop("id", None)  # an absolute id would turn references into web addresses
    resolver = jsonschema.RefResolver(SCHEMAS.as_uri() + "/config-schema.json", main)
    config = json.loads((tmp_path / "bundle" / "config.json").read_text())
    errors = [error.message for error in jsonschema.Draft4Validator(main, resolver=resolver).iter_errors(config)]
    assert not errors, errors


@pytest.mark.needs("root", "limits")
def test_plain_runc_runs_the_bundle_with_the_same_isolation(coracle, tmp_path):
    bundle = tmp_path / "bundle"
    script = "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status; touch /x || echo read-only"
    assert coracle.call("bundle", "-o", bundle, "busybox", "--", "sh", "-c", script).code == 0
    name = f"coracle-test-{os.getpid()}"
    done = subprocess.run(["runc", "--root", tmp_path / "state", "run", "-b", bundle, name], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=30 * harness.PATIENCE)
    words = done.stdout.split()
    assert words == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2", "read-only"], done


@pytest.mark.needs("sandbox")
def test_plan_prints_the_decisions_and_runs_nothing(coracle):
    import json
    done = coracle.call("plan", "--memory", "64m", "--best-effort", "busybox", "--", "echo", "hello")
    assert done.code == 0, done
    assert json.loads(done.stdout), done
