"""A limit that was asked for is enforced, or the run is refused; a default that cannot be enforced is reported."""
import json
import pathlib
import shutil
import subprocess
import time

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox")
enforcing = pytest.mark.needs("limits")
powerless = pytest.mark.lacks("limits")

ASKED = [("memory", ["--memory", "64m"]), ("cpus", ["--cpus", "0.5"]), ("pids", ["--pids", "20"])]


def limits_of(record, group):
    return {entry["limit"]: entry for entry in record["limits"][group]}


@enforcing
def test_limits_are_read_back_from_the_kernel(coracle):
    record = coracle.shell("true", "--memory", "64m", "--cpus", "0.5", "--pids", "20")
    enforced = limits_of(record, "enforced")
    assert enforced["memory"]["value"] == str(64 << 20) and "cgroup" in enforced["memory"]["source"], enforced
    # The sandbox's own init is one more.
    assert enforced["pids"]["value"] == "21" and "cpus" in enforced, enforced
    assert record["limits"]["degraded"] == [], record["limits"]
    assert record["limits"]["requested"] == {"memory": "64m", "cpus": "0.5", "pids": "20"}, record["limits"]


@enforcing
def test_the_defaults_are_enforced_too(coracle):
    record = coracle.shell("true")
    assert {"memory", "cpus", "pids"} <= set(limits_of(record, "enforced")) and record["limits"]["degraded"] == [], record
    assert record["limits"]["requested"] == {}, record["limits"]


@enforcing
def test_pids_are_limited(coracle):
    record = coracle.shell("i=0; while [ $i -lt 40 ]; do sleep 3 & i=$((i+1)); done; wait", "--pids", "10", "--timeout", "20s")
    assert "fork" in record["stderr"], record
    assert record["usage"]["pids_peak"] is None or record["usage"]["pids_peak"] <= 10, record


@enforcing
def test_the_processor_is_limited(coracle):
    usage = coracle.shell("while :; do :; done", "--cpus", "0.2", "--timeout", "2s")["usage"]
    used = usage["cpu_user_s"] + usage["cpu_system_s"]
    assert used < 0.35 * usage["wall_s"] + 0.4, usage  # the runtime's own start is charged too, more in a guest


@powerless
def test_a_first_run_works_and_reports_the_weaker_defaults(coracle):
    record = coracle.shell("echo hello")
    assert (record["reason"], record["stdout"], record.call.code) == ("exited", "hello\n", 0), record
    degraded = limits_of(record, "degraded")
    assert {"memory", "cpus"} <= set(degraded), degraded
    assert all(entry["reason"] and entry["mechanism"] for entry in degraded.values()), degraded
    assert not {"memory", "cpus"} & {name for name, entry in limits_of(record, "enforced").items()
                                     if entry["source"].startswith("cgroup")}, record["limits"]


@powerless
@pytest.mark.parametrize("limit, flag", ASKED)
def test_a_limit_that_was_asked_for_and_cannot_be_enforced_is_refused(coracle, limit, flag):
    record = coracle.shell("echo ran", *flag)
    if limit == "pids" and record["reason"] == "exited":  # RLIMIT_NPROC in a user namespace of its own is the kernel's, too
        assert limits_of(record, "enforced")["pids"]["value"] == "21", record  # with the sandbox's own init
        return
    assert (record["reason"], record.call.code, record["stdout"]) == ("policy_refused", 123, ""), record
    assert flag[0] in record["message"] and "--best-effort" in record["hint"], record


@powerless
def test_best_effort_runs_and_says_so(coracle):
    record = coracle.shell("echo ran", "--memory", "64m", "--best-effort")
    assert (record["reason"], record["stdout"]) == ("exited", "ran\n"), record
    assert limits_of(record, "degraded")["memory"]["wanted"] == "64m", record["limits"]


@powerless
def test_memory_is_watched_where_no_cgroup_holds_it(coracle):
    """90 MiB, held for as long as it takes to be seen."""
    held = "head -c 90m /dev/zero | tail -c 90m | { sleep 20; wc -c; }"
    record = coracle.shell(held, "--memory", "64m", "--best-effort", "--timeout", "50s")
    assert (record["reason"], record["oom_killed"], record.call.code) == ("oom", True, 137), record
    assert "sampled" in record["message"] and record["usage"]["oom_kills"] is None, record
    assert 64 << 20 < record["usage"]["memory_peak"] < 100 << 20, record["usage"]
    assert record["usage"]["sources"]["memory_peak"] == "pss_sampled", record["usage"]
    assert limits_of(record, "degraded")["memory"]["mechanism"] == "watcher", record["limits"]


@powerless
def test_a_required_default_is_refused(coracle):
    record = coracle.shell("echo ran", "--require", "memory")
    assert (record["reason"], record["stdout"], record.call.code) == ("policy_refused", "", 123), record


def test_open_files_and_output_are_limited_everywhere(coracle):
    assert coracle.shell("ulimit -n")["stdout"].strip() == "1024"


def test_the_wall_clock_starts_with_the_program(coracle):
    usage = coracle.shell("sleep 1")["usage"]
    assert 1.0 <= usage["wall_s"] < 1.0 + 0.5 * harness.PATIENCE, usage


@pytest.fixture
def unknown_runtime(work):
    """runc under a name that coracle does not know, so that it is driven without runc's own options."""
    place = work / "oci-runtime"
    shutil.copy2(shutil.which("runc", path="/usr/sbin:/usr/bin"), place)
    yield str(place)
    place.unlink()


@pytest.mark.needs("cgroup2")
def test_an_unknown_runtime_makes_its_cgroup_below_ours(coracle, unknown_runtime):
    record = coracle.shell("head -c 200m /dev/zero | tail -c 200m | wc -c", "--runtime", unknown_runtime, "--memory", "64m",
                           "--pids", "20")
    assert record["runtime"]["name"] == "oci-runtime" and record["host"]["cgroup"] == "cgroup2", record
    enforced = limits_of(record, "enforced")
    assert enforced["memory"]["value"] == str(64 << 20) and enforced["pids"]["value"] == "21", enforced
    assert record["usage"]["oom_kills"] >= 1, record
    exact = coracle.shell("exit 7", "--runtime", unknown_runtime)
    assert (exact["reason"], exact["exit_code"]) == ("exited", 7), exact


@pytest.mark.needs("cgroup2", "thorough")
def test_nothing_is_left_of_an_unknown_runtime_when_coracle_is_killed(coracle, unknown_runtime, leftovers):
    for moment in (0.05, 0.2, 0.5, 1.0):
        process = coracle.start("run", "--runtime", unknown_runtime, "busybox", "--", "sleep", "300")
        time.sleep(moment * harness.PATIENCE / 4)
        process.kill()
        process.communicate()
    leftovers.check()


@pytest.mark.needs("cgroup1")
def test_an_unknown_runtime_is_refused_on_cgroup_v1(coracle, unknown_runtime):
    record = coracle.shell("true", "--runtime", unknown_runtime)
    assert record["reason"] == "policy_refused" and "runc or crun" in record["hint"], record


def test_rlimits_hold_and_are_read_back(coracle):
    record = coracle.shell("ulimit -n; ulimit -s; ulimit -f; head -c 200000 /dev/zero >/tmp/big; echo $?", "--open-files", "99",
                           "--stack", "1m", "--file-size", "64k")
    assert record["stdout"].split()[:3] == ["99", "1024", "128"] and record["stdout"].split()[3] != "0", record
    enforced = limits_of(record, "enforced")
    assert [enforced[name]["value"] for name in ("open_files", "stack", "file_size", "core")] == \
        ["99", str(1 << 20), str(64 << 10), "1"], enforced


def test_the_program_sees_as_many_processors_as_it_may_use(coracle):
    record = coracle.shell("nproc")
    assert record["stdout"] == "1\n", record
    assert limits_of(record, "enforced")["visible_cpus"]["value"] == "1", record


@pytest.mark.needs("machine", "root")
def test_two_processors_show_as_two(coracle):
    assert coracle.shell("nproc", "--cpus", "1.5")["stdout"] == "2\n"


def test_what_coracle_watches_itself_is_listed_with_the_rest(coracle):
    enforced = limits_of(coracle.shell("true", "--timeout", "20s", "--idle-timeout", "9s"), "enforced")
    assert (enforced["wall_time"]["value"], enforced["idle_time"]["value"]) == ("20s", "9s"), enforced
    assert enforced["output"]["value"] == "8m", enforced


def test_scratch_space_and_its_inodes_are_limited_and_read_back(coracle):
    fill = "head -c 9m /dev/zero >f 2>/dev/null; echo $?; i=0; while touch n$i 2>/dev/null; do i=$((i+1)); done; echo $i"
    record = coracle.shell(f"cd /tmp; {fill}; cd /workspace; wc -c < /dev/null; df -k /dev/shm | tail -1", "--tmpfs",
                           "/tmp:size=8m,inodes=100", "--storage", "16m", "--shm-size", "4m")
    lines = record["stdout"].split("\n")
    assert lines[0] != "0" and 50 < int(lines[1]) < 100 and lines[3].split()[1] == "4096", record
    enforced = limits_of(record, "enforced")
    assert (enforced["size /tmp"]["value"], enforced["inodes /tmp"]["value"]) == (str(8 << 20), "100"), enforced
    assert enforced["size /workspace"]["value"] == str(16 << 20), enforced
    assert enforced["size /dev/shm"]["value"] == str(4 << 20), enforced


@pytest.mark.needs("machine", "root")
def test_a_cpuset_is_held_by_the_kernel_and_not_only_seen(coracle):
    record = coracle.shell("nproc; taskset -p 0x3 $$ >/dev/null 2>&1; grep Cpus_allowed_list /proc/self/status", "--cpuset", "1",
                           "--cpus", "2")
    assert record["stdout"].split() == ["1", "Cpus_allowed_list:", "1"], record
    assert limits_of(record, "enforced")["cpuset"]["value"] == "1", record
    missing = coracle.shell("true", "--cpuset", "0-4000")
    assert missing["reason"] in ("setup_failed", "policy_refused") and "--cpuset 0-4000" in missing["message"], missing


@pytest.mark.needs("cgroup2", "root")
def test_rates_on_a_disk_are_held_or_refused(coracle):
    """A guest may have no disk: then the path that lies on none is refused by name."""
    disks = sorted(path.read_text().strip() for path in pathlib.Path("/sys/block").glob("*/dev"))
    for device in disks[:1]:
        record = coracle.shell("true", "--io-max", f"{device}:rbps=1m,wiops=50")
        assert limits_of(record, "enforced")["io_max"]["value"] == f"{device} rbps=1048576 wbps=max riops=max wiops=50", record
    refused = coracle.shell("true", "--io-max", "/proc:rbps=1m")
    assert refused["reason"] != "exited" and "--io-max '/proc'" in refused["message"], refused


@pytest.mark.lacks("cgroup2")
def test_rates_on_a_disk_are_refused_without_cgroup_v2(coracle):
    refused = coracle.shell("true", "--io-max", "8:0:rbps=1m")
    assert refused["reason"] == "policy_refused" and "--io-max 8:0:rbps=1048576" in refused["message"], refused
    record = coracle.shell("true", "--io-max", "8:0:rbps=1m", "--best-effort")
    assert record["reason"] == "exited" and "io_max" in limits_of(record, "degraded"), record


DISK = ["--storage", "64m", "--memory", "48m", "--best-effort"]  # more than the memory: on disk


def scratch_folders(coracle):
    return [entry for entry in (coracle.store / "tmp").iterdir() if entry.is_dir()]


# A guest's store lies in memory: what is written there is the memory limit's after all.
@pytest.mark.needs("machine")
def test_what_memory_cannot_hold_is_written_to_the_disk(coracle):
    record = coracle.shell("head -c 60m /dev/zero >/workspace/big && wc -c </workspace/big; stat -c %a /workspace", *DISK,
                           "--timeout", "50s")
    assert (record["reason"], record["stdout"].split()) == ("exited", [str(60 << 20), "1777"]), record
    assert limits_of(record, "enforced")["storage"]["value"] == "64m", record
    assert record["usage"]["memory_peak"] is None or record["usage"]["memory_peak"] <= 49 << 20, record["usage"]


@pytest.mark.needs("machine")
@pytest.mark.parametrize("script", ["head -c 200m /dev/zero >/workspace/big; sleep 50",
                                    "mkdir -m 700 /workspace/a; cd /workspace/a; head -c 200m /dev/zero >big; chmod 0 .; sleep 50",
                                    "exec 5>/workspace/a; rm /workspace/a; head -c 200m /dev/zero >&5; sleep 50",
                                    "cd /workspace; i=0; while [ $i -lt 17000 ]; do : >f$i; i=$((i + 1)); done; sleep 50"])
def test_too_much_on_the_disk_ends_the_run(coracle, script):
    record = coracle.shell(script, *DISK, "--timeout", "100s", timeout=150)
    assert (record["reason"], record.call.code, record["success"]) == ("storage_limit", 122, False), record
    assert "--storage" in record["message"], record


@pytest.mark.needs("overlay", "machine")
def test_a_writable_root_is_on_the_disk_too_and_nothing_of_it_stays(coracle):
    record = coracle.shell("head -c 20m /dev/zero >/big; head -c 20m /dev/zero >/workspace/big; echo done", *DISK, "--writable")
    assert record["stdout"] == "done\n", record
    over = coracle.shell("head -c 200m /dev/zero >/big; sleep 50", *DISK, "--writable", "--timeout", "100s")
    assert over["reason"] == "storage_limit", over
    assert not scratch_folders(coracle)


def test_a_directory_that_locks_its_owner_out_does_not_stay_on_the_disk(coracle):
    record = coracle.shell("mkdir -p a/b; touch a/b/c; chmod 0 a/b a; echo done", *DISK)
    assert record["stdout"] == "done\n" and not scratch_folders(coracle), record


@pytest.mark.needs("subids")
def test_files_of_another_id_do_not_stay_on_the_disk(coracle):
    record = coracle.shell("mkdir a; touch a/b; id -u", *DISK, "--user", "user")
    assert record["stdout"] == "1000\n" and not scratch_folders(coracle), record


def test_a_killed_coracle_leaves_nothing_on_the_disk(coracle, leftovers):
    process = coracle.start("run", *DISK, "busybox", "--", "sh", "-c", "cd /workspace; touch a; mkdir -m 0 b; echo up; sleep 300")
    assert process.stdout.readline() == b"up\n"
    process.kill()
    process.communicate()
    harness.wait_for(lambda: not scratch_folders(coracle), "the keeper has removed what its coracle left")
    leftovers.check()


def test_what_coracle_and_its_keeper_left_on_the_disk_when_both_were_killed_is_swept(coracle, leftovers):
    process = coracle.start("run", *DISK, "busybox", "--", "sh", "-c", "cd /workspace; touch a; mkdir -m 0 b; echo up; sleep 300")
    assert process.stdout.readline() == b"up\n"
    keepers = harness.processes_below(process, "coracle-keeper")
    assert keepers
    harness.kill_at_once([process.pid, *keepers])
    process.communicate()
    assert scratch_folders(coracle), "nobody was left to remove it"
    assert coracle.call("gc").code == 0  # in the user namespace where the files are of subordinate ids
    assert coracle.shell("true")["reason"] == "exited"
    assert not scratch_folders(coracle)
    leftovers.check()


@pytest.mark.needs("root", "machine")
def test_a_store_without_room_or_rights_for_the_disks_scratch_says_so(coracle, leftovers):
    def in_a_store(mount):
        script = f"mount {mount} '{coracle.store}/tmp' && exec \"$@\""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *coracle.argv("run", "--json", *DISK, "busybox", "--",
                              "sh", "-c", "dd if=/dev/zero of=/workspace/big bs=1M count=9; echo rest $?")], capture_output=True,
                              env=coracle.environment, timeout=60)
        return json.loads(done.stdout)
    small = in_a_store("-t tmpfs -o size=1m none")
    assert (small["reason"], small["stdout"]) == ("exited", "rest 1\n") and "No space" in small["stderr"], small
    frozen = in_a_store("-t tmpfs -o ro none")
    assert frozen["reason"] == "setup_failed" and "Read-only" in frozen["message"], frozen


@pytest.mark.needs("overlay")
def test_a_writable_root_takes_no_more_than_the_storage(coracle):
    record = coracle.shell("head -c 9m /dev/zero >/big 2>/dev/null; echo $?", "--writable", "--storage", "8m")
    assert record["stdout"] != "0\n", record
    assert limits_of(record, "enforced")["size /"]["value"] == str(8 << 20), record


@pytest.mark.lacks("overlay")
def test_a_writable_root_is_refused_without_overlayfs(coracle):
    record = coracle.shell("true", "--writable")
    assert record["reason"] == "policy_refused" and "--writable" in record["message"] and record["hint"], record


@pytest.mark.needs("limits")
def test_swap_is_closed_or_there_is_none(coracle):
    record = coracle.shell("true", "--memory", "64m")
    entry = limits_of(record, "enforced").get("memory_swap")
    assert entry is None or entry["value"] in ("0", str(64 << 20)), entry
