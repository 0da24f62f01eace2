"""What a program sees and may do inside the sandbox."""
import subprocess

import pytest

pytestmark = pytest.mark.needs("sandbox")

# One run answers most questions: a start costs much in a guest. Each answer is a line "name=value".
QUESTIONS = r"""
sed -n 's/^\(CapInh\|CapPrm\|CapEff\|CapBnd\|CapAmb\|NoNewPrivs\|Seccomp\):[[:space:]]*/\1=/p' /proc/self/status
touch /x 2>/dev/null && echo root=writable || echo root=read-only
echo '#!/bin/sh' >/tmp/t && chmod +x /tmp/t && /tmp/t && echo tmp=works
echo interfaces=$(ls /sys/class/net 2>/dev/null | xargs || true) proc=$(sed -n 's/^ *\([^ :]*\):.*/\1/p' /proc/net/dev | xargs)
echo processes=$(ls /proc | grep -c '^[0-9]')
echo cwd=$(pwd)
touch here && echo workspace=writable
echo home=$HOME
echo uid=$(id -u)
cat /proc/1/mem >/dev/null 2>&1 && echo init=readable || echo init=closed
(: </proc/1/fd/0) 2>/dev/null || (: </proc/1/fd/3) 2>/dev/null || readlink /proc/1/fd/0 && echo init_fds=open || echo init_fds=closed
(echo x >/proc/1/mem) 2>/dev/null && echo init_mem=writable || echo init_mem=closed
kill -KILL 1 2>/dev/null; kill -STOP 1 2>/dev/null; echo init=survives
mount -t tmpfs none /tmp 2>/dev/null && echo mount=allowed || echo mount=refused
ls /proc/$$/fd >/tmp/fds; echo fds=$(xargs </tmp/fds)
(echo x >/proc/sys/kernel/core_pattern) 2>/dev/null && echo sys=writable || echo sys=read-only
cat /proc/kcore >/dev/null 2>&1; head -c1 /proc/kcore 2>/dev/null | wc -c | sed 's/^/kcore=/'
echo shm=$(touch /dev/shm/x && echo works)
echo core=$(ulimit -c)
echo done=yes
"""


@pytest.fixture(scope="module")
def inside(coracle):
    record = coracle.shell(QUESTIONS)
    assert record["exit_code"] == 0, record
    answers = dict(word.split("=", 1) for line in record["stdout"].splitlines() for word in [line] if "=" in line)
    assert answers["done"] == "yes", record
    return answers, record


def test_there_are_no_capabilities(inside):
    answers, record = inside
    assert {answers[f"Cap{which}"] for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}, answers
    assert record["security"]["capabilities"] == [], record["security"]


def test_no_new_privileges_and_a_seccomp_filter_hold(inside):
    answers, record = inside
    assert (answers["NoNewPrivs"], answers["Seccomp"]) == ("1", "2"), answers
    assert record["security"]["no_new_privileges"] is True and record["security"]["seccomp"] == "filter", record["security"]


def test_the_root_file_system_is_read_only(inside):
    assert inside[0]["root"] == "read-only"
    assert inside[1]["security"]["read_only_root"] is True


def test_tmp_and_shm_work_and_tmp_runs_programs(inside):
    assert inside[0]["tmp"] == "works" and inside[0]["shm"] == "works"


def test_the_only_interface_is_lo(inside):
    assert inside[0]["interfaces"].endswith("proc=lo") or inside[0]["interfaces"] == "lo proc=lo", inside[0]["interfaces"]


def test_the_hosts_processes_are_not_visible(inside):
    assert int(inside[0]["processes"]) < 10
    assert {"mount", "pid", "ipc", "uts", "network"} <= set(inside[1]["security"]["namespaces"]), inside[1]["security"]


def test_the_program_starts_in_a_workspace_it_can_write(inside):
    assert inside[0]["cwd"] == "/workspace" and inside[0]["workspace"] == "writable"


def test_init_cannot_be_read_written_or_killed(inside):
    answers, _ = inside
    assert (answers["init_fds"], answers["init_mem"], answers["init"]) == ("closed", "closed", "survives"), answers


def test_nothing_can_be_mounted_and_the_kernels_settings_cannot_be_written(inside):
    assert inside[0]["mount"] == "refused" and inside[0]["sys"] == "read-only" and inside[0]["kcore"] == "0", inside[0]


def test_no_descriptor_of_coracle_is_inherited(inside):
    assert set(inside[0]["fds"].split()) <= {"0", "1", "2", "10"}, inside[0]["fds"]  # 10: the shell's own copy of a script


def test_no_core_files_are_written(inside):
    assert inside[0]["core"] == "0"


def test_every_run_has_a_workspace_of_its_own(coracle):
    coracle.shell("echo mine >file")
    assert coracle.shell("ls | wc -l")["stdout"].strip() == "0"


def test_the_network_of_the_host_is_given_on_request_only(coracle):
    record = coracle.shell("sed -n 's/^ *\\([^ :]*\\):.*/\\1/p' /proc/net/dev | wc -l", "--network", "host")
    interfaces = len(open("/proc/net/dev").readlines()) - 2
    assert record["stdout"].strip() == str(interfaces), record
    assert "network" not in record["security"]["namespaces"], record["security"]


def test_environment_and_workdir_are_given(coracle):
    record = coracle.shell("echo $A; echo $B; pwd", "-e", "A=1 2", "-e", "B=ü'\"", "-w", "/tmp")
    assert record["stdout"] == "1 2\nü'\"\n/tmp\n", record


def test_a_script_runs_with_its_quotes(coracle, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho \"it's\" '$HOME' `echo ok`\nexit 4\n")
    record = coracle.record("--script", script, "busybox")
    assert (record["exit_code"], record["stdout"]) == (4, "it's $HOME ok\n"), record


@pytest.mark.needs("subids")
def test_another_user_of_the_image_can_write_the_workspace(coracle):
    record = coracle.shell("id -u; echo x >file && cat file", "--user", "user")
    assert record["stdout"] == "1000\nx\n", record


@pytest.mark.needs("root")
def test_root_runs_another_user_of_the_image(coracle):
    record = coracle.shell("id -u; echo x >file && cat file", "--user", "1000:1000")
    assert record["stdout"] == "1000\nx\n", record


@pytest.mark.needs("overlay")
def test_a_writable_root_is_written_and_forgotten(coracle):
    assert coracle.shell("echo x >/x && cat /x && rm /etc/group", "--writable")["stdout"] == "x\n"
    assert coracle.shell("ls /x /etc/group", "--writable")["stdout"] == "/etc/group\n"


# ---- volumes ------------------------------------------------------------------------------------------------------------

def test_a_volume_is_writable_as_with_docker_and_read_only_when_asked_for(coracle, tmp_path):
    (tmp_path / "in").write_text("text")
    tmp_path.chmod(0o777)
    record = coracle.shell("cat /data/in; touch /data/out 2>/dev/null || echo -refused", "-v", f"{tmp_path}:/data:ro")
    assert record["stdout"] == "text-refused\n", record
    record = coracle.shell("echo back >/data/out", "-v", f"{tmp_path}:/data")
    assert record["exit_code"] == 0 and (tmp_path / "out").read_text() == "back\n", record


def test_a_volume_goes_where_the_image_has_nothing(coracle, tmp_path):
    (tmp_path / "in").write_text("text")
    record = coracle.shell("cat /a/b/c/in /d", "-v", f"{tmp_path}:/a/b/c", "-v", f"{tmp_path / 'in'}:/d")
    assert record["stdout"] == "texttext", record


def test_a_volume_that_is_not_there_is_refused_by_name(coracle):
    record = coracle.shell("true", "-v", "/no/such/folder:/data")
    assert record.call.code in (123, 125) and "/no/such/folder" in record["message"], record


# ---- another runtime, a real image --------------------------------------------------------------------------------------

@pytest.mark.needs("machine")
def test_crun_gives_the_same_answers(coracle):
    record = coracle.shell("echo hello; exit 5", "--runtime", "crun")
    assert (record["reason"], record["exit_code"], record["stdout"]) == ("exited", 5, "hello\n"), record
    assert record["runtime"]["name"] == "crun", record


@pytest.fixture(scope="session")
def python(coracle):
    import conftest
    import harness
    return conftest.with_image(coracle, harness.PYTHON_LAYOUT, "python")


@pytest.mark.needs("machine")
def test_a_real_python_image_runs_quotes_and_all(python):
    code = """print("Hallo aus der Sandbox!"); import os; print(os.getcwd())"""
    record = python.record("python", "--", "python3", "-c", code)
    assert (record["reason"], record["stdout"]) == ("exited", "Hallo aus der Sandbox!\n/workspace\n"), record


@pytest.mark.needs("machine")
def test_a_program_cannot_starve_init_of_descriptors(coracle, tmp_path):
    (tmp_path / "starve.cpp").write_text("""
        #include <sys/resource.h>
        #include <unistd.h>
        int main() { rlimit none{0, 0}; int failed = prlimit(1, RLIMIT_NOFILE, &none, nullptr); usleep(500000); return failed ? 4 : 5; }
    """)
    subprocess.run(["g++", "-static", "-o", tmp_path / "starve", tmp_path / "starve.cpp"], check=True)
    record = coracle.record("-v", f"{tmp_path}:/probe:ro", "busybox", "--", "/probe/starve")
    # 5: the kernel let it (the same uid is enough). 4: it was refused. Either way the verdict is the program's own.
    assert record["reason"] == "exited" and record["exit_code"] in (4, 5), record


@pytest.mark.needs("machine")
def test_a_script_runs_in_the_python_image(python, tmp_path):
    script = tmp_path / "job.py"
    script.write_text("#!/usr/bin/env python3\nimport sys\nprint(\"it's\", '\"', sys.version_info[0])\nsys.exit(9)\n")
    record = python.record("--script", script, "python")
    assert (record["exit_code"], record["stdout"]) == (9, "it's \" 3\n"), record
