"""Runs build/coracle for the tests and finds what a run left behind."""
import ctypes
import functools
import json
import os
import pathlib
import signal
import subprocess
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "build" / "coracle"
BUSYBOX_LAYOUT = REPOSITORY / "build" / "busybox"
PYTHON_LAYOUT = REPOSITORY / "build" / "python"
RECORD_SCHEMA = REPOSITORY / "src" / "cli" / "result.schema.json"
KIT = pathlib.Path(os.environ.get("CORACLE_TEST_KIT") or REPOSITORY.parent / "shared" / "images")
IN_GUEST = os.environ.get("CORACLE_TEST_HOST", "").startswith("guest:")
# A guest starts processes ten times slower; no test measures speed there, all bound time.
PATIENCE = 10 if IN_GUEST else 1


class Completed:
    """How one call of coracle ended."""

    def __init__(self, args, code, stdout, stderr, seconds):
        self.args, self.code, self.seconds = args, code, seconds
        self.stdout_bytes, self.stderr_bytes = stdout, stderr
        self.stdout, self.stderr = stdout.decode(errors="replace"), stderr.decode(errors="replace")

    @property
    def json(self):
        """The one record on stdout; anything beside it fails."""
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise AssertionError(f"stdout is not one JSON document ({error}): {self}") from error

    def __repr__(self):
        return (f"{' '.join(map(str, self.args))}\n  code {self.code} after {self.seconds:.2f} s\n"
                f"  stdout: {self.stdout[:2000]!r}\n  stderr: {self.stderr[:2000]!r}")


class Record(dict):
    """The result record, and `call`, the call that printed it."""

    def __init__(self, record, call):
        super().__init__(record)
        self.call = call

    def __repr__(self):
        return repr(self.call)


class Coracle:
    """The program with a store of its own, as one user (None: the user of the tests)."""

    def __init__(self, store, home, runtime_dir=None, user=None):
        self.store, self.user = pathlib.Path(store), user
        self.environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                            "HOME": str(home), "TMPDIR": "/tmp"}
        if runtime_dir:
            self.environment["XDG_RUNTIME_DIR"] = str(runtime_dir)

    def argv(self, *args, user=None, store=None):
        user = user or self.user
        prefix = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"] if user else []
        return [*prefix, str(PROGRAM), "--store", str(store or self.store), *map(str, args)]

    def start(self, *args, env=None, user=None, store=None, **popen):
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        return subprocess.Popen(self.argv(*args, user=user, store=store), env={**self.environment, **(env or {})}, **popen)

    def call(self, *args, stdin=b"", timeout=60, **options):
        """Any command of coracle, to its end."""
        started = time.monotonic()
        with self.start(*args, stdin=subprocess.PIPE, **options) as process:
            try:
                out, err = process.communicate(stdin, timeout=timeout * PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"no end after {timeout * PATIENCE} s: {process.args}: {out!r} {err!r}") from None
        return Completed(process.args, process.returncode, out, err, time.monotonic() - started)

    def run(self, *args, **options):
        """coracle run ARGS."""
        return self.call("run", *args, **options)

    def record(self, *args, **options):
        """coracle run --json ARGS: the record, with the call that it came from."""
        done = self.run("--json", *args, **options)
        record = done.json
        assert_valid(record)
        return Record(record, done)

    def shell_in(self, image, script, *options, **call):
        """The record of a shell script in an image."""
        return self.record(*options, image, "--", "sh", "-c", script, **call)

    def shell(self, script, *options, **call):
        """The record of a shell script in busybox."""
        return self.shell_in("busybox", script, *options, **call)


# ---- what a run left behind ---------------------------------------------------------------------------------------------

@functools.cache
def _validator():
    import jsonschema  # takes a second in a guest, so it is loaded only where it is used
    return jsonschema.Draft7Validator(json.loads(RECORD_SCHEMA.read_text()))


def assert_valid(record):
    """The record against its JSON Schema; on the machine only, the shape does not depend on the host."""
    if not IN_GUEST:
        errors = [f"{list(error.absolute_path)}: {error.message}" for error in _validator().iter_errors(record)]
        assert not errors, errors


def become_subreaper():
    """Makes orphans of everything that the tests start children of this process, where they can be found."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


def process_table():
    """pid -> (parent, state, name) of every process that can be seen."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = pathlib.Path("/proc", name, "stat").read_text()
            state, parent = stat.rpartition(")")[2].split()[:2]
            found[int(name)] = (int(parent), state, stat.partition("(")[2].rpartition(")")[0])
        except OSError:
            pass  # it ended meanwhile
    return found


def processes_below(process, name):
    """Pids below `process` whose name is `name`."""
    parents = process_table()
    below, found = {process.pid}, []
    for _ in range(8):
        below |= {pid for pid, (parent, _, _) in parents.items() if parent in below}
    for pid in below - {process.pid}:
        if parents[pid][2] == name:
            found.append(pid)
    return found


def kill_at_once(pids):
    """Stopped first, so that none of them cleans up on seeing another one die."""
    for deed in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, deed)
            except ProcessLookupError:
                pass


def descendants():
    """Every process below this one, as "pid name state"; zombies that were handed to us are reaped first."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return set()
    parents, below, grown = process_table(), {os.getpid()}, True
    while grown:
        more = {pid for pid, (parent, _, _) in parents.items() if parent in below} - below
        below |= more
        grown = bool(more)
    below.discard(os.getpid())
    return {f"process {pid} {parents[pid][2]} ({parents[pid][1]})" for pid in below}


def coracle_mounts(places):
    """Mounts of this namespace that name coracle or lie in one of the tests' folders."""
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return {"mount " + line for line in lines if any(place in line for place in ("coracle-run", *places))}


def coracle_cgroups():
    """Cgroup directories with coracle in their name, in every hierarchy."""
    return {"cgroup " + os.path.join(top, name) for top, names, _ in os.walk("/sys/fs/cgroup") for name in names
            if "coracle" in name}


def run_directories(runtime_dir):
    """What lies in the places where coracle keeps its runs (design.md: /run/coracle, $XDG_RUNTIME_DIR/coracle)."""
    found = set()
    for place in (pathlib.Path("/run/coracle"), pathlib.Path(runtime_dir) / "coracle"):
        try:
            found |= {f"run {entry}" for entry in place.iterdir() if entry.is_dir()}
        except OSError:
            pass  # not there, or not ours
    return found


class Leftovers:
    """Compares what is there with what was there; what goes away within a few seconds is no leftover."""

    def __init__(self, places, runtime_dir):
        self.places, self.runtime_dir = [str(place) for place in places], runtime_dir
        self.before = self._now()

    def _now(self):
        return (descendants() | coracle_mounts(self.places) | coracle_cgroups() | run_directories(self.runtime_dir))

    def check(self, patience=3.0):
        deadline = time.monotonic() + patience * PATIENCE
        while (new := self._now() - self.before) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not new, "left behind:\n  " + "\n  ".join(sorted(new))


def wait_for(condition, what, seconds=10.0):
    deadline = time.monotonic() + seconds * PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds * PATIENCE} s: {what}"
        time.sleep(0.01)

