"""The commands that README.md shows under "Running things", as they stand there."""
import shlex
import subprocess

import pytest

import conftest
import harness

pytestmark = [pytest.mark.needs("sandbox", "limits", "machine")]  # one of them asks for a memory limit

README = harness.REPOSITORY / "README.md"


def commands():
    section = README.read_text().split("## Running things", 1)[1].split("\n\n", 2)[1]
    return [line.strip() for line in section.splitlines()]


@pytest.fixture(scope="module")
def shell(coracle, tmp_path_factory):
    """Runs a line of shell in which `coracle` is the program with the tests' store."""
    if harness.PYTHON_LAYOUT.exists():
        conftest.with_image(coracle, harness.PYTHON_LAYOUT, "python")
    folder = tmp_path_factory.mktemp("readme")
    (folder / "work").mkdir()
    (folder / "work" / "notes").write_text("x")
    (folder / "hello.py").write_text("print('hello from a script')\n")

    def run(line):
        program = shlex.join(coracle.argv())
        script = f'coracle() {{ {program} "$@"; }}\n{line}\n'
        return subprocess.run(["bash", "-c", script], cwd=folder, env=coracle.environment, capture_output=True, text=True,
                              timeout=60, check=False)
    return run


EXPECTED = {"echo hello": "hello\n", "ls -l /work": "notes", "wc -c": "5\n", "hello.py": "hello from a script\n"}


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_readme_works_as_it_stands(shell, line):
    done = shell(line)
    words = [words for sign, words in EXPECTED.items() if sign in line]
    assert done.returncode == 0 and len(words) == 1 and words[0] in done.stdout, done
