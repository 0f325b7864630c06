"""`zerotax record` from outside of what runs in a container."""

import subprocess
import time

import pytest
from conftest import ZEROTAX, clean_environment
from outside import Outcome, build, functions, open_folder, root_only
from waiting import wait_for

ROUNDS = 400


@pytest.fixture(scope="module", name="static")
def static_program():
    with open_folder() as folder:
        yield build(folder, "gcc", "-static", "-g", "-O1", "-fno-builtin")


@root_only
def test_pid_1_of_a_container_is_a_program(static, tmp_path):
    """And what runs beside it there, zerotax itself, is left out. The end of PID 1 ends all that is there, so zerotax first."""
    script = f"""
        (sleep 1; exec "{ZEROTAX}" record --pid 1 --seconds 5 --json record.json --text record.txt) &
        exec "{static}" map {ROUNDS} attach
    """
    with subprocess.Popen(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script], cwd=tmp_path,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(3)
        run.stdin.write("\n")
        run.stdin.flush()
        before, after = map(int, run.stdout.readline().split())
        wait_for(lambda: (tmp_path / "record.txt").exists())
        run.stdin.write("\n")
        run.stdin.close()
        assert run.wait() == 5
    found = Outcome(tmp_path)
    assert found.json["outside"]["pid"] == 1
    assert after - before <= found.totals["kernel"]["minor_faults"] <= after - before + 5
    assert [process["pid"] for process in found.json["processes"]] == [1]
    assert "refill_here" in functions(found.json["sites"][0])
