"""docs/examples/programs/contract: building the suite with only a C compiler, and the workflow's step that compares
broken promises.
"""

import re
import subprocess

import pytest
from conftest import SOURCE

EXAMPLE = SOURCE / "docs/examples/programs" / "contract"


@pytest.fixture(name="suite", scope="module")
def compiled(tmp_path_factory):
    """The suite, compiled with the commands of the example's README."""
    commands = re.search(r"^```sh\n(s=.*?)^```$", (EXAMPLE / "README.md").read_text(), re.DOTALL | re.MULTILINE).group(1)
    program = tmp_path_factory.mktemp("suite") / "zerotax-contract"
    commands = commands.replace("-o zerotax-contract", f"-o {program}")
    done = subprocess.run(["sh", "-euc", commands], cwd=SOURCE, capture_output=True, text=True, check=False)
    if "cannot find -lc" in done.stderr:
        pytest.skip("no static C library")
    assert done.returncode == 0, done.stderr
    return program


def test_the_readme_counts_the_promises(suite):
    listed = subprocess.run([suite, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert f"tests {len(listed)} of these promises" in (EXAMPLE / "README.md").read_text()


def step(folder, suite, said):
    """Runs the workflow's last step in this folder. The suite there runs the shell commands `said`, and then tests one
    promise.
    """
    words = (EXAMPLE / "workflow.yml").read_text().split("- name: Test the promises\n")[1].split("run: |\n")[1]
    (folder / "zerotax-contract").write_text(f"#!/bin/sh\n{said}\nexec {suite} --only dontneed\n")
    (folder / "zerotax-contract").chmod(0o755)
    return subprocess.run(["bash", "-eo", "pipefail", "-c", words], cwd=folder, env={"PATH": "/usr/bin:/bin", "RUN": "env"},
                          capture_output=True, text=True, check=False)


def test_the_workflow_fails_if_other_promises_are_broken_than_before(tmp_path, suite):
    worse = "printf '%-22s broken: %s\\n' remove 'a byte'"
    assert step(tmp_path, suite, ":").returncode == 0
    done = step(tmp_path, suite, worse)
    assert done.returncode == 1 and "> remove" in done.stdout
    (tmp_path / "broken.txt").write_text("remove\n")
    assert step(tmp_path, suite, worse).returncode == 0
    assert step(tmp_path, suite, ":").returncode == 1, "it is better than the list says"
    assert step(tmp_path, suite, "exit 7").returncode == 1, "a suite that does not end proves nothing"
