"""In a login session each run has a scope of the user's service manager; where that gives none, nobody is deceived."""
import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox", "scope")


def user_slice():
    uid = os.getuid()
    return pathlib.Path(f"/sys/fs/cgroup/user.slice/user-{uid}.slice/user@{uid}.service/app.slice")


def scopes():
    return sorted(place.name for place in user_slice().glob("coracle-*.scope"))


def units():
    call = ["systemctl", "--user", "list-units", "--all", "--plain", "--no-legend", "coracle-*"]
    return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def test_a_run_has_a_scope_of_its_name_and_systemd_removes_it(coracle):
    with coracle.start("run", "--json", "busybox", "--", "sh", "-c", "sleep 300") as process:
        harness.wait_for(lambda: [name for name in scopes() if (user_slice() / name / name.removesuffix(".scope")).exists()],
                         "the run's own cgroup is in its scope")
        [scope] = scopes()
        assert f"{scope} loaded active running coracle run {scope[8:-6]}" in units(), units()
        assert len((user_slice() / scope / "keeper" / "cgroup.procs").read_text().split()) == 1
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20 * harness.PATIENCE)
    harness.wait_for(lambda: not scopes() and not units(), "systemd has removed the scope")


def test_a_scope_that_somebody_stops_ends_its_run_with_a_record(coracle):
    with coracle.start("run", "--json", "busybox", "--", "sh", "-c", "echo up; sleep 300") as process:
        harness.wait_for(lambda: any("sleep" == name for _, _, name in harness.process_table().values()), "the program runs")
        subprocess.run(["systemctl", "--user", "stop", *scopes()], check=True)
        out, _ = process.communicate(timeout=20 * harness.PATIENCE)
    assert process.returncode != 0 and b'"reason":' in out, out


def test_the_doctor_says_how_limits_are_held(coracle):
    done = coracle.call("doctor")
    assert done.code == 0 and "cgroup v2 through the user's service manager with cpu, memory, pids" in done.stdout, done


# ---- a manager that gives none ------------------------------------------------------------------------------------------

@contextlib.contextmanager
def another_bus(listen):
    """Puts another socket in the place of the user's bus; `listen` is what serves each connection."""
    place = pathlib.Path(f"/run/user/{os.getuid()}/bus")
    aside = place.with_name("bus.aside")
    place.rename(aside)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
            listener.listen()
            threading.Thread(target=serve, args=(listener, listen), daemon=True).start()
            yield
            listener.shutdown(socket.SHUT_RDWR)
    finally:
        aside.rename(place)


def serve(listener, listen):
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            with client:
                listen(client)


def refuse(client):
    client.recv(4096)
    client.sendall(b"REJECTED EXTERNAL\r\n")


def be_silent(client):
    while client.recv(4096):
        pass


@pytest.mark.parametrize("listen, words", [(refuse, "REJECTED EXTERNAL"), (be_silent, "no answer in time")])
def test_defaults_fall_to_weaker_mechanisms_with_the_managers_words(coracle, listen, words):
    with another_bus(listen):
        record = coracle.shell("echo hello")
        doctor = coracle.call("doctor")
    assert (record["reason"], record["stdout"], record["host"]["cgroup"]) == ("exited", "hello\n", "none"), record
    degraded = {entry["limit"]: entry for entry in record["limits"]["degraded"]}
    assert {"memory", "cpus", "pids"} == set(degraded) and words in degraded["memory"]["reason"], degraded
    assert "weak  cgroups" in doctor.stdout and words in doctor.stdout, doctor


def test_a_limit_that_was_asked_for_is_refused_with_the_managers_words(coracle):
    with another_bus(refuse):
        record = coracle.shell("echo ran", "--memory", "64m")
    assert (record["reason"], record["stdout"], record.call.code) == ("policy_refused", "", 123), record
    assert "--memory 64m" in record["message"] and "REJECTED EXTERNAL" in record["message"], record
    assert "--best-effort" in record["hint"], record


def test_a_cancelled_run_does_not_wait_for_a_silent_manager(coracle):
    with another_bus(be_silent):
        process = coracle.start("run", "--json", "busybox", "--", "true")
        time.sleep(0.1 * harness.PATIENCE)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20 * harness.PATIENCE)
    assert b'"reason":"cancelled"' in out and time.monotonic() - began < 4, out


def test_without_a_bus_limits_are_refused_or_reported(coracle):
    place = pathlib.Path(f"/run/user/{os.getuid()}/bus")
    place.rename(place.with_name("bus.aside"))
    try:
        refused = coracle.shell("true", "--memory", "64m")
        record = coracle.shell("echo ran", "--memory", "64m", "--best-effort")
    finally:
        place.with_name("bus.aside").rename(place)
    assert refused["reason"] == "policy_refused" and refused["hint"], refused
    assert record["stdout"] == "ran\n" and "memory" in {entry["limit"] for entry in record["limits"]["degraded"]}, record
