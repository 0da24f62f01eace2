"""Configuration files reach the run: defaults, ceilings, the image that is not named; and credentials reach their file."""
import json
import stat
import subprocess

import pytest

needs = pytest.mark.needs
# What a file says does not depend on the kernel.
pytestmark = needs("machine")


def config(tmp_path, text, name="c.yaml"):
    file = tmp_path / name
    file.write_text(text)
    return file


def record(coracle, *args, **options):
    return coracle.call(*args, **options).json


@needs("sandbox")
def test_the_default_image_is_taken_where_dashes_stand_in_its_place(coracle, tmp_path):
    file = config(tmp_path, "sandbox: {default_image: busybox, timeout: 20}\n")
    found = record(coracle, "--config", file, "run", "--json", "--", "echo", "hello")
    assert found["stdout"] == "hello\n"
    assert found["image"]["ref"] == "busybox"
    assert found["limits"]["granted"]["wall_time"] == "20s"


@needs("sandbox")
def test_without_a_default_image_a_run_without_image_says_what_to_do(coracle):
    found = record(coracle, "run", "--json", "--", "echo", "hello")
    assert (found["reason"], found["stage"]) == ("setup_failed", "request")
    assert "no image is named" in found["message"] and "default_image" in found["hint"]


@needs("sandbox")
def test_the_users_own_file_is_read_and_a_flag_is_over_it(coracle, tmp_path):
    config(tmp_path, "sandbox: {timeout: 11, network_mode: host}\n", "config.yaml").parent.joinpath("coracle").mkdir()
    (tmp_path / "config.yaml").rename(tmp_path / "coracle" / "config.yaml")
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert record(coracle, "run", "--json", "busybox", "true", env=home)["limits"]["granted"]["wall_time"] == "11s"
    flagged = record(coracle, "run", "--json", "--timeout", "7s", "busybox", "true", env=home)
    assert flagged["limits"]["granted"]["wall_time"] == "7s"


def test_a_mistake_in_a_configuration_is_told_with_file_line_and_key(coracle, tmp_path):
    file = config(tmp_path, "sandbox:\n  memroy_limit: 1g\n")
    done = coracle.call("--config", file, "run", "busybox", "true")
    assert done.code == 125
    assert f"{file}:2: memroy_limit: unknown key" in done.stderr and "'memory_limit'" in done.stderr


@needs("sandbox")
def test_plan_tells_where_each_limit_comes_from(coracle, tmp_path):
    file = config(tmp_path, "sandbox:\n  timeout: 9\n")
    plan = record(coracle, "--config", file, "plan", "--pids", "50", "--best-effort", "busybox", "true")
    assert plan["limit_sources"]["wall_time"] == f"{file}:2"
    assert plan["limit_sources"]["pids"] == "--pids"
    assert plan["limit_sources"]["memory"] == "built-in"


def below_ceilings(coracle, tmp_path, text, *args):
    """The call in a mount namespace whose /etc/coracle/config.yaml is `text`."""
    etc = tmp_path / "etc" / "coracle"
    etc.mkdir(parents=True, exist_ok=True)
    (etc / "config.yaml").write_text(text)
    script = 'mount -t overlay overlay -o "lowerdir=$1:/etc" /etc && shift && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, "sh", str(etc.parent), *coracle.argv(*args)]
    done = subprocess.run(words, env=coracle.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return done, json.loads(done.stdout)


CEILINGS = "sandbox:\n  resources: {max_memory: 32m, max_cpu: 0.5}\n"


@needs("root", "overlay", "limits")
def test_a_request_above_a_ceiling_is_lowered_and_the_record_says_so(coracle, tmp_path):
    _, found = below_ceilings(coracle, tmp_path, CEILINGS, "run", "--json", "--memory", "1g", "busybox", "true")
    assert found["reason"] == "exited"
    assert found["limits"]["requested"]["memory"] == "1g"
    assert found["limits"]["granted"]["memory"] == "32m" and found["limits"]["granted"]["cpus"] == "0.5"
    assert found["limits"]["clamped"] == [
        {"limit": "memory", "wanted": "1g", "granted": "32m", "ceiling": "/etc/coracle/config.yaml:2"}]
    held = {row["limit"]: row["value"] for row in found["limits"]["enforced"]}
    assert held["memory"] == str(32 << 20)


@needs("root", "overlay", "limits")
def test_a_request_above_a_ceiling_is_refused_where_the_administrator_says_so(coracle, tmp_path):
    done, found = below_ceilings(coracle, tmp_path, CEILINGS + "  ceilings: refuse\n",
                                 "run", "--json", "--memory", "1g", "busybox", "true")
    assert (done.returncode, found["reason"]) == (123, "policy_refused")
    assert "/etc/coracle/config.yaml:2" in found["message"] and "32m" in found["hint"]


@needs("root", "overlay", "limits")
def test_ceilings_from_a_file_that_is_not_roots_are_refused(coracle, tmp_path):
    etc = tmp_path / "etc" / "coracle"
    etc.mkdir(parents=True)
    (etc / "config.yaml").write_text(CEILINGS)
    (etc / "config.yaml").chmod(0o666)
    script = 'mount -t overlay overlay -o "lowerdir=$1:/etc" /etc && shift && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, "sh", str(etc.parent), *coracle.argv("run", "--json", "busybox", "true")]
    done = subprocess.run(words, env=coracle.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 125 and "by others than root" in json.loads(done.stdout)["message"]


def test_a_login_is_kept_for_its_owner_alone_and_forgotten_by_logout(coracle, tmp_path):
    file = tmp_path / "auth.json"
    done = coracle.call("login", "--no-verify", "--authfile", file, "-u", "anna", "--password-stdin", "127.0.0.1:1/team",
                        stdin="p@ss:wörd\n".encode())
    assert done.code == 0, done
    assert "p@ss" not in done.stdout + done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(json.loads(file.read_text())["auths"]) == ["127.0.0.1:1/team"]
    assert coracle.call("logout", "--authfile", file, "127.0.0.1:1/team").code == 0
    assert json.loads(file.read_text())["auths"] == {}
    again = coracle.call("logout", "--authfile", file, "127.0.0.1:1/team")
    assert again.code == 125 and "has no credentials for 127.0.0.1:1/team" in again.stderr
