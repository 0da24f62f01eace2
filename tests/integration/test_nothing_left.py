"""However coracle dies, nothing of the sandbox survives. The `leftovers` fixture checks after each test, this file tries hard."""
import os
import random
import signal
import time

import pytest

import harness

pytestmark = pytest.mark.needs("sandbox")

PAYLOADS = [
    "sleep 300",
    "trap '' TERM INT HUP; sleep 300 & sleep 300",
    "for i in 1 2 3 4 5; do setsid sh -c 'setsid sleep 300 & sleep 300' & done; sleep 300",
    "sleep 300 & kill -STOP $!; sleep 300",
]


def kill_at(coracle, moment, payload):
    """Starts a run and kills coracle after `moment` seconds, wherever it is by then."""
    process = coracle.start("run", "--json", "busybox", "--", "sh", "-c", payload)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.needs("machine")
def test_200_kills_at_random_moments_leave_nothing(coracle, leftovers):
    seed = int(os.environ.get("CORACLE_TEST_SEED", time.time()))
    print("seed", seed)
    moments = random.Random(seed)
    for attempt in range(200):
        kill_at(coracle, moments.uniform(0, 0.06), PAYLOADS[attempt % len(PAYLOADS)])
        if attempt % 20 == 19:
            leftovers.check()
    assert coracle.shell("echo alive")["stdout"] == "alive\n"


@pytest.mark.lacks("machine")
def test_kills_at_random_moments_leave_nothing_in_a_guest(coracle, leftovers):
    moments = random.Random(1)
    for attempt in range(12):
        kill_at(coracle, moments.uniform(0, 0.8), PAYLOADS[attempt % len(PAYLOADS)])
    leftovers.check()
    assert coracle.shell("echo alive")["stdout"] == "alive\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_cancelled_run_leaves_nothing(coracle, number):
    process = coracle.start("run", "busybox", "--", "sh", "-c", PAYLOADS[2])
    time.sleep(0.5 * harness.PATIENCE)
    process.send_signal(number)
    process.communicate(timeout=20 * harness.PATIENCE)


def test_two_runs_at_once_do_not_disturb_each_other(coracle):
    processes = [coracle.start("run", "busybox", "--", "sh", "-c", f"sleep 1; echo {i}; exit {i}") for i in range(4)]
    ends = [(process.communicate(timeout=60 * harness.PATIENCE)[0], process.returncode) for process in processes]
    assert ends == [(b"%d\n" % i, i) for i in range(4)]


def test_the_reader_of_our_output_may_go_away(coracle):
    process = coracle.start("run", "busybox", "--", "sh", "-c", "while :; do echo y; done")
    process.stdout.read(10)
    process.stdout.close()
    process.stderr.close()
    process.wait(timeout=20 * harness.PATIENCE)
