"""Programs that will not behave (tests/support/probes): each ends on time and for the reason that its head names."""
import re
import shlex

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox", "thorough")

PROBES = sorted((harness.REPOSITORY / "tests" / "support" / "probes").glob("*.sh"))
# What a caller waits at most beyond the program's own time: the promise, and the start and end of a process.
PROMISED, OVERHEAD = 2.0, 1.0
HEAVY = {} if harness.IN_GUEST else {"ZOMBIES": "3000"}


def head_of(probe, key):
    found = re.search(rf"^# {key}: (.*)$", probe.read_text(), re.MULTILINE)
    return found.group(1) if found else None


def seconds(flags, name, otherwise):
    text = flags[flags.index(name) + 1] if name in flags else otherwise
    return float(text.removesuffix("ms")) / 1000 if text.endswith("ms") else float(text.removesuffix("s"))


def test_the_probes_are_there():
    assert len(PROBES) >= 16


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.stem)
def test_a_misbehaving_program_ends_on_time_and_for_the_right_reason(coracle, host_features, probe):
    flags = shlex.split(head_of(probe, "flags"))
    if "--memory" in flags and "limits" not in host_features:
        record = coracle.record(*flags, "--script", probe, "busybox")
        assert record["reason"] == "policy_refused" and "--memory" in record["message"], record
        return
    if "limits" not in host_features:
        flags.append("--best-effort")
    environment = [word for name, value in HEAVY.items() for word in ("-e", f"{name}={value}")]
    record = coracle.record(*flags, *environment, "--script", probe, "busybox", timeout=90)
    reasons, _, code = head_of(probe, "ends").partition(" ")
    if code.startswith("or "):
        assert record["reason"] in (reasons, code.removeprefix("or ")), record
    else:
        assert record["reason"] == reasons, record
        if code:
            assert str(record["signal" if reasons == "signaled" else "exit_code"]) == code, record
    if (text := head_of(probe, "writes")) is not None:
        assert record["stdout"].split() == text.split(), record
    if record["reason"] == "wall_timeout":
        bound = seconds(flags, "--timeout", "30s") + seconds(flags, "--grace", "1s") + PROMISED
        assert record["usage"]["wall_s"] < bound, record
        assert record.call.seconds < bound + OVERHEAD * harness.PATIENCE, record


@pytest.mark.needs("machine", "root")
def test_ten_gigabytes_of_output_are_counted_to_the_byte(coracle):
    probe = harness.REPOSITORY / "tests" / "support" / "probes" / "flood.sh"
    record = coracle.record("--timeout", "250s", "--output-limit", "1m", "-e", f"FLOOD_BYTES={10 << 30}", "--script", probe,
                            "busybox", timeout=300)
    stream = record["streams"]["stdout"]
    assert (record["reason"], stream["bytes_total"], stream["bytes_kept"]) == ("exited", 10 << 30, 1 << 20), record["message"]


# Works until it has used 400 ms, by its own account (times), in a session of its own.
BURN = """cat >/tmp/burn <<'END'
in_ms() { fraction=${1#*.}; echo >/dev/null; eval "$2=\\$((1\\${fraction%s} % 1000))"; }
used=0
while [ $used -lt 400 ]; do
  i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done
  times >/tmp/times; read -r user system </tmp/times
  in_ms $user a; in_ms $system b; used=$((a + b))
done
echo $used
END
(setsid sh /tmp/burn &)
sleep 3"""


@pytest.mark.needs("limits", "machine")
def test_the_processor_time_of_a_daemonised_child_is_counted(coracle):
    record = coracle.shell(BURN, "--timeout", "50s")
    used = 1000 * (record["usage"]["cpu_user_s"] + record["usage"]["cpu_system_s"])
    own = int(record["stdout"])
    assert 400 <= own < 420 and 0.9 * own <= used <= 1.1 * own, record
