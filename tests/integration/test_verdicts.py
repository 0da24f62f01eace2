"""Why a run ended: one true verdict with its evidence, and the exit code that goes with it."""
import ctypes
import json
import pathlib
import platform
import signal
import struct
import subprocess

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox", "thorough")
limits = pytest.mark.needs("limits")

# Doubles until it is far beyond the 64 MB it is given.
HOG = "a=x; while :; do a=$a$a; done"


def test_a_program_writes_to_the_callers_streams_and_coracle_adds_nothing(coracle):
    done = coracle.run("busybox", "--", "sh", "-c", "echo hello; echo aside >&2")
    assert (done.code, done.stdout, done.stderr) == (0, "hello\n", "aside\n"), done


def test_the_images_own_command_runs_when_none_is_given(coracle):
    done = coracle.run("-i", "busybox", stdin=b"echo from a shell")
    assert (done.code, done.stdout) == (0, "from a shell\n"), done


def test_exit_0_is_success(coracle):
    record = coracle.shell("echo out; echo err >&2")
    assert (record["reason"], record["exit_code"], record["signal"], record["success"]) == ("exited", 0, None, True), record
    assert (record["stdout"], record["stderr"], record.call.code) == ("out\n", "err\n", 0), record
    assert not record["timed_out"] and not record["oom_killed"] and record["schema"] == 1, record
    assert record["image"]["ref"] == "busybox" and record["runtime"]["name"] == "runc", record
    assert record.call.stderr == "", record


def test_exit_7_is_7(coracle):
    record = coracle.shell("exit 7")
    assert (record["reason"], record["exit_code"], record["success"], record.call.code) == ("exited", 7, False, 7), record


@pytest.mark.parametrize("name", ["SEGV", "TERM", "KILL", "ABRT", "PIPE"])
def test_a_program_that_kills_itself_is_signaled(coracle, name):
    record = coracle.shell(f"kill -{name} $$")
    number = signal.Signals[f"SIG{name}"].value
    assert (record["reason"], record["signal"], record["exit_code"]) == ("signaled", number, None), record
    assert record.call.code == 128 + number, record


def test_exit_137_is_not_taken_for_a_signal_or_oom(coracle):
    record = coracle.shell("exit 137")
    assert (record["reason"], record["exit_code"], record["signal"], record["oom_killed"]) == ("exited", 137, None, False)


@pytest.mark.parametrize("command", [["nosuchprogram"], ["/no/such/program"]])
def test_a_program_that_is_not_there_is_127(coracle, command):
    record = coracle.record("busybox", "--", *command)
    assert (record["reason"], record["exit_code"], record.call.code) == ("exec_failed", 127, 127), record
    assert command[0] in record["message"], record
    assert record["stdout"] == "", record


@pytest.mark.parametrize("command", ["/etc/passwd", "/tmp"])
def test_a_program_that_cannot_be_executed_is_126(coracle, command):
    record = coracle.record("busybox", "--", command)
    assert (record["reason"], record["exit_code"], record.call.code) == ("exec_failed", 126, 126), record
    assert command in record["message"], record


def test_the_program_itself_may_exit_with_127(coracle):
    record = coracle.shell("exit 127")
    assert (record["reason"], record["exit_code"]) == ("exited", 127), record


@pytest.mark.parametrize("script", [
    "sleep 60",
    "trap '' TERM INT HUP; while :; do sleep 60; done",         # deaf to TERM
    "kill -STOP $$",                                            # stopped
    "setsid sh -c 'trap \"\" TERM; sleep 60' & sleep 60",      # a daemonised child holds the streams
])
def test_wall_time_ends_every_program(coracle, script):
    record = coracle.shell(script, "--timeout", "1s", "--grace", "200ms")
    assert (record["reason"], record["timed_out"], record["success"]) == ("wall_timeout", True, False), record
    assert record.call.code == 124, record
    assert 0.9 <= record["usage"]["wall_s"] < 2.5, record


def test_wall_time_ends_a_run_whose_stdin_stays_open(coracle):
    with coracle.start("run", "--json", "-i", "--timeout", "1s", "busybox", "--", "cat", stdin=subprocess.PIPE) as process:
        assert process.wait(timeout=30) == 124
        process.stdin.close()
        process.stdout.read()
        process.stderr.read()


def test_wall_time_keeps_what_was_written_before(coracle):
    record = coracle.shell("echo early; sleep 60", "--timeout", "1s")
    assert (record["reason"], record["stdout"]) == ("wall_timeout", "early\n"), record


@limits
def test_processor_time_is_counted_over_all_processes(coracle):
    """Four children burn it in the background, and nobody waits for them."""
    burners = "for i in 1 2 3 4; do setsid sh -c 'while :; do :; done' & done; sleep 60"
    record = coracle.shell(burners, "--cpu-time", "1s", "--cpus", "1", "--timeout", "50s", "--grace", "100ms")
    assert (record["reason"], record["timed_out"], record.call.code) == ("cpu_timeout", True, 124), record
    used = record["usage"]["cpu_user_s"] + record["usage"]["cpu_system_s"]
    assert 0.95 <= used < 1.6, used
    assert "--cpu-time" in record["message"], record


@limits
def test_a_program_that_sleeps_uses_no_processor_time(coracle):
    assert coracle.shell("sleep 1; exit 3", "--cpu-time", "800ms")["exit_code"] == 3


def may_count_with_perf():
    """perf_event_open(2): 2, the kernel's default, lets users count their own processes; Debian has 3."""
    try:
        return int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) <= 2
    except OSError:
        return False  # a kernel without perf events, such as a guest's


@pytest.mark.lacks("limits")
def test_without_a_cgroup_processor_time_is_refused_or_held_for_each_process(coracle):
    if may_count_with_perf():
        record = coracle.shell("true", "--cpu-time", "1s")
        assert record["usage"]["sources"]["cpu_s"] == "perf" and record["usage"]["cpu_s"] > 0, record
        assert "cpu_time" in {entry["limit"] for entry in record["limits"]["enforced"]}, record["limits"]
        record = coracle.shell("for i in 1 2 3 4; do setsid sh -c 'while :; do :; done' & done; sleep 60", "--cpu-time", "1s",
                               "--timeout", "50s", "--grace", "100ms")
        assert (record["reason"], record.call.code) == ("cpu_timeout", 124), record
        assert 0.95 <= record["usage"]["cpu_s"] < 2, record["usage"]
        return
    refused = coracle.shell("true", "--cpu-time", "1s")
    assert refused["reason"] == "policy_refused" and "--cpu-time" in refused["message"], refused
    record = coracle.shell("while :; do :; done", "--cpu-time", "1s", "--best-effort", "--timeout", "50s")
    assert (record["reason"], record.call.code) == ("cpu_timeout", 124), record
    assert "cpu_time" in {entry["limit"] for entry in record["limits"]["degraded"]}, record["limits"]
    whose = coracle.shell("grep cpu /proc/1/limits; ulimit -t", "--cpu-time", "1s", "--best-effort")
    assert whose["stdout"].split()[3:5] == ["unlimited", "unlimited"] and whose["stdout"].endswith("\n1\n"), whose
    deaf = coracle.shell("trap '' XCPU; while :; do :; done", "--cpu-time", "1s", "--best-effort", "--timeout", "50s")
    assert (deaf["reason"], deaf["signal"]) == ("cpu_timeout", signal.SIGKILL), deaf


def forbid_perf_events():
    """In the child: a filter that answers perf_event_open with EPERM, as an outer container's does."""
    number, prog = {"x86_64": 298, "aarch64": 241}[platform.machine()], []
    for code, jump_true, jump_false, value in ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)):
        prog.append(struct.pack("HBBI", code, jump_true, jump_false, value))
    code = ctypes.create_string_buffer(b"".join(prog))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(prog), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


# newuidmap does nothing under no_new_privs.
@pytest.mark.needs("machine")
@pytest.mark.lacks("limits", "subids")
def test_a_counter_that_the_kernel_refuses_is_no_counter(coracle):
    filtered = {"preexec_fn": forbid_perf_events}
    plain = coracle.shell("true", **filtered)
    assert (plain["reason"], plain["usage"]["sources"]["cpu_s"]) == ("exited", "rusage_lower_bound"), plain
    refused = coracle.shell("echo ran", "--cpu-time", "1s", **filtered)
    assert (refused["reason"], refused["stdout"]) == ("policy_refused", "") and "--cpu-time" in refused["message"], refused
    record = coracle.shell("while :; do :; done", "--cpu-time", "1s", "--best-effort", "--timeout", "50s", **filtered)
    assert record["reason"] == "cpu_timeout", record
    assert "cpu_time" in {entry["limit"] for entry in record["limits"]["degraded"]}, record["limits"]


def test_silence_ends_a_run_that_asked_for_it(coracle):
    record = coracle.shell("for i in 1 2 3 4; do echo $i; sleep 0.5; done; sleep 60", "--idle-timeout", "2s",
                           "--timeout", "50s")
    assert (record["reason"], record["stdout"], record["timed_out"]) == ("idle_timeout", "1\n2\n3\n4\n", True), record
    assert record.call.code == 124 and 3.3 < record["usage"]["wall_s"] < 3.4 + 3 * harness.PATIENCE, record


def test_silence_cannot_be_seen_without_json(coracle):
    done = coracle.run("--idle-timeout", "2s", "busybox", "--", "true")
    assert done.code == 125 and "--idle-timeout" in done.stderr and "--json" in done.stderr, done


def test_a_fork_bomb_ends_at_its_wall_time(coracle):
    record = coracle.shell("b() { b | b & }; b; sleep 60", "--timeout", "2s", "--pids", "40", "--best-effort")
    assert record["reason"] in ("wall_timeout", "exited"), record
    assert record["usage"]["wall_s"] < 5, record


def test_a_daemon_that_outlives_the_program_does_not_hold_up_the_run(coracle):
    record = coracle.shell("setsid sleep 60 & echo done", "--timeout", "20s")
    assert (record["reason"], record["stdout"]) == ("exited", "done\n"), record
    assert record["usage"]["wall_s"] < 5, record


@limits
def test_a_memory_hog_is_oom_with_its_evidence(coracle):
    record = coracle.shell(HOG, "--memory", "64m", "--timeout", "30s")
    assert (record["reason"], record["oom_killed"], record["timed_out"]) == ("oom", True, False), record
    assert record["usage"]["oom_kills"] >= 1 and record["usage"]["sources"]["oom_kills"] in ("cgroup1", "cgroup2"), record
    assert 32 << 20 < record["usage"]["memory_peak"] <= 64 << 20, record
    assert record.call.code == 137, record


@limits
def test_a_child_that_is_oom_killed_does_not_change_the_programs_verdict(coracle):
    record = coracle.shell(f"sh -c '{HOG}'; exit 0", "--memory", "64m", "--timeout", "30s")
    assert (record["reason"], record["exit_code"], record["oom_killed"]) == ("exited", 0, False), record
    assert record["usage"]["oom_kills"] >= 1 and record.call.code == 0, record


@limits
def test_a_full_tmp_in_memory_is_no_oom(coracle):
    record = coracle.shell("dd if=/dev/zero of=/tmp/big bs=1M count=80 2>/dev/null; echo rest $?")
    assert (record["reason"], record["stdout"]) == ("exited", "rest 1\n"), record


@limits
def test_usage_is_read_before_the_cgroup_goes(coracle):
    usage = coracle.shell("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done")["usage"]
    assert usage["memory_peak"] > 0 and usage["cpu_user_s"] > 0 and usage["oom_kills"] == 0, usage


def test_output_beyond_the_limit_is_counted_and_not_kept(coracle):
    record = coracle.shell("head -c 3000000 /dev/zero | tr '\\0' x", "--output-limit", "1m")
    stream = record["streams"]["stdout"]
    assert (stream["bytes_total"], stream["bytes_kept"], stream["truncated"]) == (3000000, 1 << 20, True), stream["bytes_total"]
    assert stream["omitted_at"] == 1 << 19, stream["omitted_at"]
    assert record["reason"] == "exited", record["reason"]


def test_the_beginning_and_the_end_of_long_output_are_kept(coracle):
    stdout = coracle.shell("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done", "--output-limit", "1k")["stdout"]
    assert stdout.startswith("line 0\nline 1\n") and stdout.endswith("line 2998\nline 2999\n") and len(stdout) == 1024, stdout


def test_too_much_output_ends_a_run_that_asked_for_it(coracle):
    record = coracle.shell("echo start; while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", "--output-limit", "64k",
                           "--output-excess", "kill", "--timeout", "50s")
    assert (record["reason"], record.call.code) == ("output_limit", 122), record
    assert record["stdout"].startswith("start\n") and record["streams"]["stdout"]["bytes_kept"] == 65536, record["message"]


def test_discarded_output_is_counted(coracle):
    record = coracle.shell("echo hello", "--output-excess", "discard")
    assert (record["stdout"], record["streams"]["stdout"]["bytes_total"]) == ("", 6), record


def test_bytes_that_are_no_text_arrive_exactly(coracle):
    stream = coracle.shell(r"printf '\377\000a'")["streams"]["stdout"]
    assert (stream["base64"], stream["bytes_total"]) == ("/wBh", 3), stream


def test_stdin_is_empty_unless_asked_for(coracle):
    assert coracle.record("busybox", "--", "wc", "-c", stdin=b"12345")["stdout"].strip() == "0"
    assert coracle.record("-i", "busybox", "--", "wc", "-c", stdin=b"12345")["stdout"].strip() == "5"


def test_the_record_goes_to_a_file_while_the_program_has_the_streams(coracle, tmp_path):
    done = coracle.run("--result", tmp_path / "record.json", "busybox", "--", "sh", "-c", "echo seen; exit 3")
    assert (done.code, done.stdout) == (3, "seen\n"), done
    assert json.loads((tmp_path / "record.json").read_text())["exit_code"] == 3


def test_a_signal_to_coracle_cancels_the_run(coracle, tmp_path):
    result = tmp_path / "record.json"
    with coracle.start("run", "--result", result, "busybox", "--", "sh", "-c", "echo up; sleep 60") as process:
        assert process.stdout.readline() == b"up\n"  # the program runs
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20 * harness.PATIENCE)
    record = json.loads(result.read_text())
    assert (record["reason"], record["signal"], process.returncode) == ("cancelled", signal.SIGTERM, 143), record
