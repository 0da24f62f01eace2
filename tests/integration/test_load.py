"""Many sandboxes at once: none fails, none sees another's figures, nothing is left, and a supervisor stays small. scripts/soak runs
these with large numbers and prints what they saw."""
import concurrent.futures
import json
import os
import pathlib
import re
import time

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox", "machine")

ALIVE = int(os.environ.get("CORACLE_TEST_ALIVE", 20))
RUNS = int(os.environ.get("CORACLE_TEST_RUNS", 80))
CALLERS = 8
MOST_SUPERVISOR_KIB = 4096


def private_kib(pid):
    """What the process alone holds: its share of the program's file is everybody's."""
    text = pathlib.Path("/proc", str(pid), "smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB", text, re.MULTILINE))


def test_many_sandboxes_live_at_once(coracle, leftovers, record_property):
    started = time.monotonic()
    processes = [coracle.start("run", "--json", "--timeout", "500s", "--memory", "32m", "--best-effort", "busybox", "--", "sh", "-c",
                               f"echo {number}; exec sleep 400") for number in range(ALIVE)]
    mine = {process.pid for process in processes}
    try:
        def alive():
            runs = json.loads(coracle.call("ps", "--json").stdout)["runs"]
            return len(mine & {run["pid"] for run in runs}) == ALIVE and \
                sum(name == "sleep" for _, _, name in harness.process_table().values()) >= ALIVE
        harness.wait_for(alive, f"{ALIVE} sandboxes live", 20 + 2 * ALIVE)
        up = time.monotonic() - started
        supervisors = [private_kib(process.pid) for process in processes]
        assert max(supervisors) <= MOST_SUPERVISOR_KIB, supervisors
    finally:
        for process in processes:
            process.terminate()
        outs = [process.communicate(timeout=120)[0] for process in processes]
    for number, out in enumerate(outs):
        record = json.loads(out)
        assert (record["reason"], record["stdout"]) == ("cancelled", f"{number}\n"), record
    leftovers.check(10)
    record_property("seen", f"{ALIVE} sandboxes alive at once after {up:.1f} s; memory of a supervisor at most "
                            f"{max(supervisors)} KiB; nothing left")


def one_run(coracle, number):
    """A run whose every figure follows from its number."""
    code, kib = number % 100, 1 + number % 50
    megabytes = 4 + 20 * (number % 2)
    script = f"echo {number}; head -c {kib}k /dev/zero >&2; head -c {megabytes}m /dev/zero | tail -c {megabytes}m >/dev/null; exit {code}"
    record = coracle.shell(script, "--timeout", "100s", "--memory", "64m", "--best-effort", timeout=150)
    assert (record["reason"], record["exit_code"], record["stdout"]) == ("exited", code, f"{number}\n"), record
    assert record["streams"]["stderr"]["bytes_total"] == kib << 10, record["streams"]
    usage = record["usage"]
    if usage["sources"]["memory_peak"] in ("cgroup1", "cgroup2"):
        assert megabytes << 20 <= usage["memory_peak"] <= (megabytes + 18) << 20, (number, usage)
        assert usage["oom_kills"] == 0, usage
    return record["timing_ms"]["total"], record["id"]


def test_many_runs_by_parallel_callers_do_not_mix_their_figures(coracle, leftovers, record_property):
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        ends = list(callers.map(lambda number: one_run(coracle, number), range(RUNS)))
    took = time.monotonic() - started
    assert len({run_id for _, run_id in ends}) == RUNS
    leftovers.check(10)
    times = sorted(total for total, _ in ends)
    record_property("seen", f"{RUNS} runs by {CALLERS} callers in {took:.1f} s, {RUNS / took:.1f} a second; "
                            f"p50 {times[RUNS // 2]:.0f} ms, p99 {times[RUNS * 99 // 100]:.0f} ms; no failure, nothing left")
