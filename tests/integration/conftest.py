"""Fixtures of the integration tests: coracle with its store, other users, the host table, and nothing left behind."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest
import yaml

import harness

HOST = os.environ.get("CORACLE_TEST_HOST") or ("root" if os.geteuid() == 0 else "user")
TABLE = yaml.safe_load((harness.REPOSITORY / "tests" / "hosts.yaml").read_text())
HAS = set(TABLE.get(HOST, ())) - (set() if harness.KIT.is_dir() else {"kit"})
FEATURES = {feature for features in TABLE.values() for feature in features}


# ---- which test runs on this host ---------------------------------------------------------------------------------------

def pytest_configure(config):
    # A suite that a shell started in the background would hand its ignored signals down, and coracle respects those.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    config.addinivalue_line("markers", "needs(feature, ...): runs only on hosts that have them (tests/hosts.yaml)")
    config.addinivalue_line("markers", "lacks(feature, ...): runs only on hosts that have none of them")
    if HOST not in TABLE:
        raise pytest.UsageError(f"CORACLE_TEST_HOST={HOST}: not in tests/hosts.yaml")
    if ("root" in TABLE[HOST]) != (os.geteuid() == 0):
        raise pytest.UsageError(f"host {HOST} of tests/hosts.yaml is not uid {os.geteuid()}")
    harness.become_subreaper()


def features_named(item, marker):
    named = {feature for mark in item.iter_markers(marker) for feature in mark.args}
    if named - FEATURES:
        raise pytest.UsageError(f"{item.nodeid}: {marker}({named - FEATURES}): no host of tests/hosts.yaml has that")
    return named


def pytest_collection_modifyitems(items):
    """Tests that the table does not put on this host are skipped here, and only here."""
    for item in items:
        missing, unwanted = features_named(item, "needs") - HAS, features_named(item, "lacks") & HAS
        if missing or unwanted:
            item.add_marker(pytest.mark.skip(reason=f"tests/hosts.yaml: {HOST} lacks {missing} has {unwanted}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.skipped and not str(report.longrepr).count("tests/hosts.yaml: "):
        report.outcome = "failed"
        report.longrepr = f"skipped, though tests/hosts.yaml puts it on {HOST}: {report.longrepr}"


# ---- coracle ------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def host_features():
    return HAS


@pytest.fixture(scope="session")
def runtime_dir(tmp_path_factory):
    """XDG_RUNTIME_DIR: the session's own where the host gave one, a private folder elsewhere."""
    given = os.environ.get("CORACLE_TEST_RUNTIME_DIR") or os.environ.get("XDG_RUNTIME_DIR")
    return pathlib.Path(given) if given else tmp_path_factory.mktemp("runtime")


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """A folder for stores, in HOME: programs may be executed from there on every host."""
    home = pathlib.Path(os.environ["HOME"]) if harness.IN_GUEST else tmp_path_factory.mktemp("home")
    return home


@pytest.fixture(scope="session")
def busybox_layout(tmp_path_factory):
    """The default image, made by scripts/test or here."""
    if harness.BUSYBOX_LAYOUT.exists():
        return harness.BUSYBOX_LAYOUT
    layout = tmp_path_factory.mktemp("image") / "busybox"
    subprocess.run([harness.REPOSITORY / "scripts" / "make-image", layout], check=True)
    return layout


def with_image(coracle, layout, tag):
    done = coracle.call("import", layout, "--tag", tag)
    assert done.code == 0, done
    return coracle


@pytest.fixture(scope="session")
def coracle(work, runtime_dir, busybox_layout):
    """The program with a store of this session that holds busybox."""
    return with_image(harness.Coracle(work / "store", work, runtime_dir), busybox_layout, "busybox")


@pytest.fixture
def empty_coracle(tmp_path, work, runtime_dir):
    """The program with an empty store."""
    return harness.Coracle(work / f"store.{tmp_path.name}", work, runtime_dir)


@pytest.fixture(scope="session")
def other_user():
    """An ordinary user without subordinate ids, for tests that are root (needs("root"))."""
    name = f"coracle-o{os.getpid()}"
    subprocess.run(["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--user-group", name], check=True)
    yield name
    subprocess.run(["userdel", name], check=True)


@pytest.fixture
def other_home(other_user):
    """A folder of that user's: what the tests have is root's alone."""
    home = tempfile.mkdtemp(prefix="coracle-home.", dir="/var/tmp")
    shutil.chown(home, other_user, other_user)
    yield pathlib.Path(home)
    shutil.rmtree(home)


@pytest.fixture(autouse=True)
def leftovers(request, tmp_path_factory):
    """After every test: no process, mount, cgroup or run directory that was not there before it."""
    for fixture in ("coracle", "inside"):  # what the session sets up once is not this test's
        if fixture in request.fixturenames:
            request.getfixturevalue(fixture)
    places = [tmp_path_factory.getbasetemp(), request.getfixturevalue("work")]
    found = harness.Leftovers(places, request.getfixturevalue("runtime_dir"))
    yield found
    found.check()
