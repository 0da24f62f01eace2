"""The record of real runs is valid against the schema, on every path that a user can reach."""
import json
import pathlib

import jsonschema
import pytest

pytestmark = pytest.mark.needs("sandbox", "thorough")

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "src/cli/result.schema.json").read_text(encoding="utf-8"))


def check(run):
    """The record on stdout: one line, valid, and nothing on stderr."""
    assert run.stdout.count("\n") == 1 and run.stdout.endswith("\n")
    assert run.stderr == ""
    jsonschema.Draft7Validator(SCHEMA).validate(run.json)
    return run.json


def test_a_run_that_exits_tells_status_and_output(coracle):
    run = coracle.run("--json", "busybox", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    record = check(run)
    assert run.code == 7
    assert (record["reason"], record["exit_code"], record["success"]) == ("exited", 7, False)
    assert (record["stdout"], record["stderr"]) == ("out\n", "err\n")


def test_a_timeout_is_named_and_timed(coracle):
    run = coracle.run("--json", "--timeout", "1s", "--grace", "100ms", "busybox", "--", "sleep", "60")
    record = check(run)
    assert run.code == 124
    assert record["reason"] == "wall_timeout" and record["timed_out"]
    assert 0.9 <= record["duration"] <= 5


def test_a_signal_is_a_number(coracle):
    run = coracle.run("--json", "busybox", "--", "sh", "-c", "kill -SEGV $$")
    record = check(run)
    assert run.code == 139
    assert (record["reason"], record["signal"], record["exit_code"]) == ("signaled", 11, None)


def test_binary_output_keeps_its_bytes(coracle):
    record = check(coracle.run("--json", "busybox", "--", "printf", r"a\377z"))
    stream = record["streams"]["stdout"]
    assert stream["text"] == "a\ufffdz"
    assert stream["base64"] == "Yf96"
    assert stream["bytes_total"] == 3


@pytest.mark.parametrize(
    "args, code, reason",
    [
        (["--memory", "512x", "busybox", "true"], 125, "setup_failed"),
        (["--no-such-option", "busybox", "true"], 125, "setup_failed"),
        (["no-such-image-anywhere", "true"], 125, "image_failed"),
        (["busybox", "no-such-program"], 127, "exec_failed"),
        (["busybox", "/etc"], 126, "exec_failed"),
    ],
)
def test_what_goes_wrong_is_a_record_with_a_message(coracle, args, code, reason):
    if args[0] == "--no-such-option":
        run = coracle.run(args[0], "--json", *args[1:])
    else:
        run = coracle.run("--json", *args)
    record = check(run)
    assert run.code == code
    assert record["reason"] == reason
    assert record["message"]


def test_without_json_a_file_takes_the_record_and_stdout_is_the_programs(coracle, tmp_path):
    path = tmp_path / "record.json"
    run = coracle.run("--result", str(path), "busybox", "echo", "hello")
    assert (run.code, run.stdout, run.stderr) == (0, "hello\n", "")
    record = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(record)
    assert record["reason"] == "exited" and record["stdout"] is None


def test_a_failure_without_json_is_one_line_and_a_hint(coracle):
    run = coracle.run("--memory", "512x", "busybox", "true")
    assert run.code == 125 and run.stdout == ""
    lines = run.stderr.splitlines()
    assert lines[0].startswith("coracle: setup_failed: --memory: '512x'")
    assert lines[1].startswith("hint: ")
    assert len(lines) == 2
