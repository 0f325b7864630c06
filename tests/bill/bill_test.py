"""docs/bill/bill.py with small programs: its document, its behavior after an interrupt, and its refusals."""

import json
import os
import signal
import subprocess
import sys

import pytest
import slurm_cluster
from conftest import BUILD, SOURCE, ZEROTAX, check_schema, is_na, mostly_long
from waiting import wait_for

BILL = SOURCE / "docs" / "bill" / "bill.py"
# One program allocates six blocks that are too large for glibc's heap, so the kernel zeroes each of them. The other
# program allocates little.
BLOCKS = "/usr/bin/python3 -c 'for _ in range(6): bytearray(40 << 20)'"
QUIET = "head -c 1000 input >output"


def program(name, command, packages=("coreutils",), given=()):
    return {"name": name, "group": "small", "does": "little", "packages": list(packages), "input": list(given),
            "command": [command]}


def bill(folder, programs, *arguments, **how):
    """Starts bill.py with these programs. Its results are in folder/out."""
    (folder / "programs.json").write_text(json.dumps({"prelude": ["word() { echo word; }"], "programs": programs}))
    return subprocess.Popen([sys.executable, BILL, "--out", folder / "out", "--programs", folder / "programs.json",
                             "--rounds", "1", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "ZEROTAX_BUILD": str(BUILD), **how})


def ended(run, status=0):
    text, errors = run.communicate(timeout=120)
    assert run.returncode == status, errors + text
    return text, errors


def document(folder):
    its = json.loads((folder / "out" / "bill.json").read_text())
    check_schema(its, "bill")
    return its, {each["name"]: each for each in its["programs"]}


def test_the_document_has_each_program_that_is_installed_and_is_drawn(tmp_path):
    programs = [program("quiet", QUIET, given=["word >word", "yes | head -c 100000 >input"]), program("blocks", BLOCKS),
                program("absent", "true", ["coreutils", "no-such-package"]), program("fails", "echo no room >&2; exit 7"),
                program("left", "true")]
    chosen = [word for each in programs[:4] for word in ("--only", each["name"])]
    # Advice is asked for shares from 100 % on, so no program gets advice. Another test covers advice.
    text, _ = ended(bill(tmp_path, programs, *chosen, "--advise-from", "100"), 1)
    its, by_name = document(tmp_path)
    assert f"{tmp_path}/out/bill.json: 4 of 5 programs" in text and its["defined"] == 5
    assert list(by_name) == ["quiet", "blocks", "absent", "fails"]
    assert by_name["absent"]["na"] == "no-such-package not installed: apt-get install no-such-package"
    assert by_name["fails"]["na"] == "sh command.sh: exit status 7: no room"
    blocks = by_name["blocks"]["recorded"]
    zeroed = sum(row["bytes"] for row in blocks["causes"] if row["cause"] in ("fresh", "refilled") and not is_na(row["bytes"]))
    assert 240 << 20 < zeroed < 270 << 20
    assert (blocks["site"]["kind"], blocks["site"]["stored_bytes"]) == ("by_hand", 240 << 20) and blocks["site"]["frames"]
    its = by_name["blocks"]["adaptive"]
    assert its["faults_before"]["median"] > 60_000 > its["faults_after"]["median"] and its["pairs"] == 1
    assert is_na(by_name["quiet"]["advice"]) and set(by_name["quiet"]["packages"]) == {"coreutils"}
    assert not (tmp_path / "out" / "work" / "quiet").exists()
    drawn = subprocess.run([sys.executable, SOURCE / "plots" / "bill.py", tmp_path / "out", "--format", "svg"],
                           capture_output=True, text=True, check=False)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "out" / "bill.svg").stat().st_size > 10_000


@pytest.mark.long("advice takes fifty runs; the short tests take the same path without it")
def test_advice_is_asked_for_where_zeroing_takes_enough(tmp_path):
    ended(bill(tmp_path, [program("blocks", BLOCKS)], "--advise-from", "5"))
    advice = document(tmp_path)[1]["blocks"]["advice"]
    assert advice["kind"] in ("remedy", "nothing_helps") and advice["tried"] > 5
    if advice["kind"] == "remedy":
        assert advice["ratios"]["cpu"]["high"] < 1 and (advice["env"] or advice["preload"])


@pytest.mark.parametrize("number", mostly_long([signal.SIGINT, signal.SIGTERM], [signal.SIGINT], "the same handler"))
def test_an_interrupted_run_keeps_what_is_finished_and_continues(tmp_path, number):
    waits = f"[ -e {tmp_path}/go ] || sleep 61.{os.getpid()}"
    programs = [program("first", "true"), program("second", waits), program("third", "true")]
    run = bill(tmp_path, programs, "--advise-from", "101")
    assert wait_for(lambda: subprocess.run(["pgrep", "-fx", f"sleep 61.{os.getpid()}"], capture_output=True).returncode == 0, 90)
    run.send_signal(number)
    _, errors = ended(run, 128 + number)
    assert "bill: interrupted; resume with: " in errors.splitlines()[-1] and str(BILL) in errors
    assert wait_for(lambda: subprocess.run(["pgrep", "-fx", f"sleep 61.{os.getpid()}"], capture_output=True).returncode == 1, 90)
    first = document(tmp_path)[1]
    assert list(first) == ["first"]
    (tmp_path / "go").touch()
    _, errors = ended(bill(tmp_path, programs, "--advise-from", "101"))
    assert "bill: 1 of 2: second: record" in errors and "first" not in errors
    again = document(tmp_path)[1]
    assert list(again) == ["first", "second", "third"] and again["first"]["recorded"] == first["first"]["recorded"]
    _, errors = ended(bill(tmp_path, [program("first", ":"), *programs[1:]], "--advise-from", "101"))
    assert "bill: 1 of 1: first: record" in errors


@pytest.mark.parametrize("arguments, message", [
    (["--only", "vii"], "unknown program 'vii' (choose: g++, clang"), ([], "--out DIR is missing"),
    (["--out", "/proc/self/cmdline"], "give a folder that you can write with --out"),
    (["--rounds", "0", "--out", "x"], "invalid --rounds 0 (choose: 1 to 100)"),
    (["--programs", __file__, "--out", "x"], "does not have the form of docs/bill/programs.json")])
def test_bad_input_is_refused_with_the_remedy(arguments, message):
    done = subprocess.run([sys.executable, BILL, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "ZEROTAX_BUILD": str(BUILD)})
    assert done.returncode == 2 and message in done.stderr.splitlines()[-1], done.stderr


def test_it_names_what_it_lacks(tmp_path):
    run = bill(tmp_path, [program("first", "true")], ZEROTAX_BUILD=str(tmp_path))
    assert ended(run, 3)[1] == f"bill: {tmp_path}/bin/zerotax is missing (./run build)\n"


def test_all_forty_are_listed():
    done = subprocess.run([sys.executable, BILL, "--list"], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(json.loads(BILL.with_name("programs.json").read_text())["programs"]) == 40


@pytest.mark.long("a cluster takes ten seconds to start; the tasks are the same script")
@pytest.mark.skipif(slurm_cluster.missing() is not None, reason=str(slurm_cluster.missing()))
def test_slurm_measures_each_program_as_a_task(tmp_path):
    assert ZEROTAX.exists()
    with slurm_cluster.Cluster(tmp_path / "cluster") as cluster:
        programs = [program("first", "true"), program("second", "true"), program("absent", "true", ["no-such-package"])]
        text, errors = ended(bill(tmp_path, programs, "--on", "slurm", **cluster.environment))
    assert "3 of 3 programs" in text and ", 3 tasks; waiting" in errors
    by_name = document(tmp_path)[1]
    assert list(by_name) == ["first", "second", "absent"] and "na" in by_name["absent"] and "recorded" in by_name["second"]
