"""Each limit on each host: enforced with figures, or refused by name and reported under --best-effort. scripts/host-matrix prints
what these tests saw."""
import pytest

import harness


@pytest.fixture
def cell(record_property):
    """Says what was seen, once the test has asserted that it is right."""
    return lambda text: record_property("cell", text)


def no_sandbox(coracle, cell):
    """Where no sandbox can be made, that is what every limit answers."""
    record = coracle.record("busybox", "--", "true")
    assert record["reason"] in ("policy_refused", "setup_failed") and record["message"] and record["hint"], record
    cell("no sandbox here, refused: " + record["message"])


def mib(size):
    return f"{size / (1 << 20):.0f} MiB"


def refused_or_reported(coracle, cell, limit, *flags):
    """The limit that was asked for is refused by its flag's name, and with --best-effort reported."""
    refused = coracle.shell("true", *flags)
    assert refused["reason"] == "policy_refused" and flags[0] in refused["message"] and refused["hint"], refused
    record = coracle.shell("echo ran", *flags, "--best-effort")
    [entry] = [entry for entry in record["limits"]["degraded"] if entry["limit"] == limit]
    assert record["stdout"] == "ran\n" and entry["reason"], record
    cell(f"refused; with --best-effort: {entry['mechanism']}, reported")


def test_matrix_memory(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    if "limits" not in host_features:
        return refused_or_reported(coracle, cell, "memory", "--memory", "64m")
    record = coracle.shell("head -c 40m /dev/zero | tail -c 40m | wc -c; head -c 90m /dev/zero | tail -c 90m | wc -c", "--memory",
                           "64m", "--timeout", "50s")
    assert record["stdout"].startswith(f"{40 << 20}\n") and record["usage"]["oom_kills"] >= 1, record
    peak = record["usage"]["memory_peak"]
    assert 40 << 20 <= peak <= 64 << 20, record
    return cell(f"enforced: 90 MiB killed under 64m, peak {mib(peak)}")


def test_matrix_cpu(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    if "limits" not in host_features:
        return refused_or_reported(coracle, cell, "cpus", "--cpus", "0.2")
    usage = coracle.shell("while :; do :; done", "--cpus", "0.2", "--timeout", "3s")["usage"]
    used, wall = usage["cpu_user_s"] + usage["cpu_system_s"], usage["wall_s"]
    assert used < 0.2 * wall * 1.3 + 0.25, usage
    return cell(f"enforced: {used:.2f} s in {wall:.1f} s under 0.2")


def test_matrix_pids(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    flags = ["--pids", "12", "--timeout", "50s"]
    script = "i=0; while [ $i -lt 40 ]; do sleep 4 & i=$((i+1)); done; wait; echo all"
    record = coracle.shell(script, *flags)
    if record["reason"] == "policy_refused":
        assert "limits" not in host_features
        return refused_or_reported(coracle, cell, "pids", *flags)
    assert "fork" in record["stderr"] or "all" not in record["stdout"], record
    if "limits" in host_features:
        return cell("enforced: fork refused at 12")
    [entry] = [entry for entry in record["limits"]["degraded"] if entry["limit"] == "pids"]
    assert entry["mechanism"] == "rlimit_nproc", record
    return cell("enforced by RLIMIT_NPROC in a user namespace of its own, reported: fork refused at 12")


def test_matrix_wall(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    record = coracle.shell("trap '' TERM; sleep 60", "--timeout", "1s", "--grace", "500ms")
    wall = record["usage"]["wall_s"]
    assert record["reason"] == "wall_timeout" and 1 <= wall < 1.5 + 2 * harness.PATIENCE, record
    return cell(f"enforced: 1s + 0.5s grace ended at {wall:.2f} s")


def test_matrix_output(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    record = coracle.shell("head -c 3m /dev/zero; echo end", "--output-limit", "1m")
    stream = record["streams"]["stdout"]
    assert (stream["bytes_total"], stream["bytes_kept"]) == ((3 << 20) + 4, 1 << 20), stream["bytes_total"]
    assert coracle.shell("head -c 3m /dev/zero", "--output-limit", "1m", "--output-excess", "kill")["reason"] == "output_limit"
    return cell("enforced: 1 MiB of 3 kept, 3 counted; kill ends it")


def test_matrix_oom(coracle, host_features, cell):
    if "sandbox" not in host_features:
        return no_sandbox(coracle, cell)
    if "limits" not in host_features:
        record = coracle.shell("kill -9 $$")
        assert (record["reason"], record["oom_killed"]) == ("signaled", False), record
        assert record["usage"]["oom_kills"] is None and record["usage"]["sources"]["oom_kills"] == "none", record
        return cell("no counter here: 137 is never taken for oom")
    record = coracle.shell("a=x; while :; do a=$a$a; done", "--memory", "64m", "--timeout", "50s")
    assert record["reason"] == "oom" and record["usage"]["oom_kills"] >= 1 and record.call.code == 137, record
    return cell(f"proven: oom_kills {record['usage']['oom_kills']} ({record['usage']['sources']['oom_kills']})")
