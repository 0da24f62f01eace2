"""The harness itself: the leftover check finds what it is there to find."""
import os
import signal
import subprocess
import sys

import pytest

import harness


@pytest.fixture(autouse=True)
def leftovers():
    """These tests leave things behind on purpose and clear up themselves; no program is needed."""


@pytest.fixture
def watch(tmp_path):
    return harness.Leftovers([tmp_path], tmp_path / "runtime")


def assert_found(watch, word):
    with pytest.raises(AssertionError, match=word):
        watch.check(patience=0.1)


def test_a_daemon_whose_parents_died_is_found(watch):
    out = subprocess.run(["setsid", "sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True)
    assert_found(watch, f"process {out.stdout.strip()} sleep")
    os.kill(int(out.stdout), signal.SIGKILL)
    watch.check()


def test_a_zombie_is_reaped_and_no_leftover(watch):
    subprocess.run(["sh", "-c", "sleep 0.1 >/dev/null 2>&1 &"], check=True)
    watch.check()


def test_a_run_directory_is_found(watch, tmp_path):
    (tmp_path / "runtime" / "coracle" / "abc").mkdir(parents=True)
    assert_found(watch, "run .*abc")


@pytest.mark.needs("root")
def test_a_mount_is_found(watch, tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "stray", tmp_path], check=True)
    try:
        assert_found(watch, "mount .*stray")
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    watch.check()


@pytest.mark.needs("root", "limits")
def test_a_cgroup_is_found(watch):
    parent = next(place for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup") if os.path.isdir(place))
    stray = f"{parent}/coracle-harness-{os.getpid()}"
    os.mkdir(stray)
    try:
        assert_found(watch, stray)
    finally:
        os.rmdir(stray)
    watch.check()


def test_a_call_that_does_not_end_fails_and_is_killed(tmp_path, monkeypatch):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(harness, "PROGRAM", "/bin/sleep")
    monkeypatch.setattr(harness.Coracle, "argv", lambda self, *args, **_: ["/bin/sleep", "60"])
    with pytest.raises(AssertionError, match="no end after"):
        harness.Coracle(tmp_path, tmp_path).call(timeout=0.1)


def test_a_record_that_is_not_alone_on_stdout_fails():
    with pytest.raises(AssertionError, match="not one JSON document"):
        harness.Completed(["run"], 0, b"{}\nextra", b"", 0.1).json


TABLE_TEST = """
import pytest
@pytest.fixture(autouse=True)
def leftovers(): pass
def test_skips_itself(): pytest.skip("I do not feel like it")
@pytest.mark.needs("sandbox")
@pytest.mark.lacks("sandbox")
def test_that_no_host_has(): assert False
"""


def test_a_skip_that_the_table_does_not_allow_is_a_failure(tmp_path):
    here = os.path.dirname(os.path.abspath(__file__))
    (tmp_path / "test_it.py").write_text(TABLE_TEST)
    (tmp_path / "conftest.py").write_text("from integration_conftest import *\n")
    (tmp_path / "integration_conftest.py").symlink_to(os.path.join(here, "conftest.py"))
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", tmp_path], capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": f"{here}:{tmp_path}"}, check=False)
    assert "1 failed, 1 skipped" in done.stdout and "I do not feel like it" in done.stdout, done.stdout
