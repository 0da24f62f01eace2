"""Ways out of the sandbox that were once found; each stays closed."""
import os
import subprocess

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox")


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_stream_that_the_caller_has_closed_is_no_door_to_the_host(coracle, closed):
    script = "for fd in 0 1 2; do cat /proc/self/fd/$fd/../../etc/hostname; ls /proc/self/fd/$fd/; done 2>/dev/null; echo end"
    words = " ".join(f"'{word}'" for word in coracle.argv("run", "-i", "busybox", "--", "sh", "-c", script))
    done = subprocess.run(["bash", "-c", f"{words} {closed}"], env=coracle.environment, stdout=subprocess.PIPE,
                          timeout=60 * harness.PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, b"end\n"), done


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_a_directory_is_no_stream(coracle, tmp_path, stream):
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    with coracle.start("run", "-i", "busybox", "--", "sh", "-c", "echo x >/proc/self/fd/0/owned", **{stream: folder}) as process:
        process.communicate(timeout=60 * harness.PATIENCE)
    os.close(folder)
    assert process.returncode == 125 and not list(tmp_path.iterdir())


def test_an_images_links_in_the_place_of_dev_proc_and_sys_lead_nowhere(empty_coracle, tmp_path):
    root, canary = tmp_path / "root", tmp_path / "canary"
    (root / "bin").mkdir(parents=True)
    canary.mkdir()
    (canary / "ptmx").write_text("precious")
    (root / "bin" / "sh").write_bytes(open("/bin/busybox", "rb").read())
    (root / "bin" / "sh").chmod(0o755)
    for name in ("dev", "proc", "sys"):
        (root / name).symlink_to(canary)
    assert empty_coracle.call("import", root, "--tag", "links").code == 0
    done = empty_coracle.run("links", "--", "/bin/sh", "-c", "echo ok")
    assert [path.name for path in canary.iterdir()] == ["ptmx"] and (canary / "ptmx").read_text() == "precious", done
    assert (done.code, done.stdout) == (0, "ok\n"), done


def test_a_low_hard_limit_of_the_caller_is_told_and_not_fatal(coracle):
    words = " ".join(f"'{word}'" for word in coracle.argv("run", "--json", "busybox", "--", "sh", "-c", "ulimit -n"))
    done = subprocess.run(["bash", "-c", f"ulimit -n 512; {words}"], env=coracle.environment, capture_output=True, text=True,
                          timeout=60 * harness.PATIENCE, check=False)
    assert '"stdout":"512\\n"' in done.stdout and '"limit":"open_files","wanted":"1024"' in done.stdout, done
