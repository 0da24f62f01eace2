"""The image `host`: the host's own programs in a sandbox, without anything of its users."""
import os
import pathlib
import subprocess

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox")


def test_the_hosts_programs_run_without_an_import(empty_coracle):
    record = empty_coracle.record("host", "--", "sh", "-c", "echo hello; id -u; awk 'BEGIN{print 6*7}'")
    assert record["reason"] == "exited" and record["stdout"].split()[0] == "hello", record
    assert record["stdout"].split()[-1] == "42"
    assert record["image"] == {"ref": "host", "manifest_digest": None, "config_digest": None}
    assert "host" not in empty_coracle.call("images").stdout


@pytest.mark.needs("machine")
def test_python_and_its_tls_work(empty_coracle):
    script = ("import ssl, socket, pwd, os, json, sqlite3; print(len(ssl.create_default_context().get_ca_certs()) >= 0,"
              " pwd.getpwuid(os.getuid()).pw_name, socket.getservbyname('https'))")
    record = empty_coracle.record("host", "--", "/usr/bin/python3", "-c", script)
    assert record["stdout"].startswith("True ") and record["stdout"].endswith(" 443\n"), record


def test_nothing_of_the_users_is_there(empty_coracle):
    record = empty_coracle.shell_in("host", "ls -A / /home /root /var /srv /opt /etc 2>/dev/null; cat /etc/shadow /etc/ssl/private/*")
    shown = record["stdout"].split()
    assert not {"home", "root", "var", "srv", "opt", "boot", "shadow", "ssh", "sudoers", "private"} & set(shown), shown
    assert record["exit_code"] != 0


def test_usr_is_read_only_and_setuid_means_nothing(empty_coracle):
    record = empty_coracle.shell_in("host", "touch /usr/x || touch /usr/bin/x || grep NoNewPrivs /proc/self/status; grep ' /usr ' /proc/self/mountinfo")
    assert "NoNewPrivs:\t1" in record["stdout"] and " ro,nosuid,nodev" in record["stdout"], record


@pytest.mark.needs("root", "machine")
def test_what_only_root_can_read_in_usr_stays_roots(empty_coracle):
    secret = pathlib.Path("/usr/local/share") / f"coracle-secret-{os.getpid()}"
    secret.touch(mode=0o600)
    secret.write_text("secret")
    try:
        record = empty_coracle.shell_in("host", f"cat {secret}")
        assert "secret" not in record["stdout"] and "denied" in record["stderr"], record
        # --user 0 is the caller's word: SECURITY.md.
        assert empty_coracle.record("--user", "0", "host", "--", "cat", secret)["stdout"] == "secret"
    finally:
        secret.unlink()


def test_plan_names_the_image_and_its_mounts(empty_coracle):
    plan = empty_coracle.call("plan", "host", "--", "true").json
    assert plan["image"]["ref"] == "host" and plan["image"]["manifest_digest"] is None
    assert any(mount["destination"] == "/usr" and "rro" in mount["options"] for mount in plan["mounts"])


@pytest.mark.needs("root", "limits", "machine")
def test_its_bundle_runs_with_plain_runc(empty_coracle, tmp_path):
    bundle = tmp_path / "bundle"
    done = empty_coracle.call("bundle", "-o", bundle, "host", "--", "sh", "-c", "id -u; ls /usr/bin/env")
    assert done.code == 0, done
    run = subprocess.run(["runc", "--root", tmp_path / "state", "run", "-b", bundle, f"coracle-host-{os.getpid()}"],
                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=30 * harness.PATIENCE)
    assert run.stdout.split() == ["65534", "/usr/bin/env"], run
