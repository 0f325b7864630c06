"""A program gets other rights at its exec: it is setuid or setgid, has file capabilities, or its user may not read its
file. The kernel then ends the program's perf events. `zerotax record` still counts, or reports an unknown number, and
`profile` still samples.
"""

import grp
import json
import os
import shutil
import subprocess

import pytest
from conftest import MIB, NOBODY, PAGE, ZEROTAX, check_schema, clean_environment, is_na
from outside import Outcome, build, open_folder, root_only, start_record
from recording import record

GROWN = 48
# Bytes for loading and starting some programs.
SLACK = 2 * MIB
KINDS = ["setuid", "setgid", "capabilities", "unreadable"]


@pytest.fixture(scope="module", name="folder")
def open_to_all():
    with open_folder() as folder:
        # On a file system mounted with nosuid, an exec gives no other rights.
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("no setuid programs here")
        build(folder, "gcc", "-O1", "-g")
        yield folder


def program(folder, kind, owner="root"):
    """A copy of the program that runs with other rights than its user's."""
    made = folder / f"{kind}-{owner}"
    shutil.copy(folder / "refills", made)
    shutil.chown(made, owner, grp.getgrgid(65534).gr_name if kind == "setgid" and owner == "root" else None)
    made.chmod({"setuid": 0o4755, "setgid": 0o2755, "capabilities": 0o755, "unreadable": 0o711}[kind])
    if kind == "capabilities":
        if shutil.which("setcap") is None:
            pytest.skip("setcap is missing: install libcap2-bin")
        subprocess.run(["setcap", "cap_net_raw+ep", made], check=True)
    return made


def check_grown(kernel, zeroed, least=GROWN * MIB):
    assert least <= zeroed <= least + SLACK
    assert kernel["refilled_interval_bytes"][0] == 0


@root_only
@pytest.mark.parametrize("kind", ["setuid", "setgid"])
def test_root_counts_a_program_that_becomes_another_user(folder, kind):
    made = program(folder, kind, "nobody" if kind == "setuid" else "root")
    found = record(made, "grow", GROWN)
    assert found.status == 5 and found.json["outside"]["zeroed_by"] == "counted"
    kernel = found.totals["kernel"]
    check_grown(kernel, kernel["zeroed_bytes"])
    # Samples were taken after the program had received other rights.
    assert "grow_here" in str(found.json["sites"][0]["frames"])


@root_only
@pytest.mark.parametrize("way", ["itself", "child", "grandchild"])
@pytest.mark.parametrize("kind", KINDS)
def test_root_counts_what_a_watched_process_of_another_user_runs(folder, tmp_path, kind, way):
    made = program(folder, kind)
    line = {"itself": f"exec {made} grow {GROWN}", "child": f"{made} grow {GROWN}; true",
            "grandchild": f"(sh -c '{made} grow {GROWN}; true'; true)"}[way]
    with subprocess.Popen([*NOBODY, "sh", "-c", f"echo ready; read go; {line}"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=clean_environment()) as run:
        assert run.stdout.readline() == "ready\n"  # setpriv has become the shell
        started = start_record(tmp_path, run.pid, "--seconds", 60)
        run.stdin.write("\n")
        run.stdin.close()
        found = Outcome(tmp_path, started)
    kernel = found.totals["kernel"]
    if is_na(kernel["zeroed_bytes"]):  # no BPF
        assert kernel["zeroed_at_least_bytes"] <= GROWN * MIB
        assert is_na(kernel["zeroed_at_most_bytes"]) or kernel["zeroed_at_most_bytes"] >= GROWN * MIB
    else:
        check_grown(kernel, kernel["zeroed_bytes"])


@root_only
def test_who_may_not_count_on_does_not_say_how_much(folder, tmp_path):
    """A shell of the user nobody runs a program of root. nobody may execute the program, but not read it."""
    made = program(folder, "unreadable")
    with subprocess.Popen([*NOBODY, "sh", "-c", f"echo ready; read go; {made} grow {GROWN}; true"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True, env=clean_environment()) as run:
        assert run.stdout.readline() == "ready\n"
        os.chown(tmp_path, 65534, 65534)
        with open_folder() as folder_of_theirs:
            started = start_record(folder_of_theirs, run.pid, "--seconds", 60, prefix=NOBODY)
            run.stdin.write("\n")
            run.stdin.close()
            found = Outcome(folder_of_theirs, started)
    kernel = found.totals["kernel"]
    assert is_na(kernel["zeroed_bytes"])
    assert is_na(kernel["zeroed_at_most_bytes"]) or kernel["zeroed_at_most_bytes"] >= GROWN * MIB
    assert "Nothing to gain" not in found.text


@root_only
def test_with_the_library_what_it_cannot_see_is_named(folder):
    made = program(folder, "setuid", "nobody")
    found = record("sh", "-c", f"{made} grow {GROWN}; true")
    [missed] = [each for each in found.json["not_followed"] if each["program"].endswith(made.name)]
    assert "setuid" in missed["reason"] and not missed.get("running")
    assert is_na(missed["minor_faults"]) or missed["minor_faults"] >= GROWN * MIB // PAGE
    assert "Nothing to gain" not in found.text


@root_only
def test_profile_samples_a_program_that_becomes_another_user(folder, tmp_path):
    made = program(folder, "setuid", "nobody")
    done = subprocess.run([ZEROTAX, "profile", "--json", tmp_path / "profile.json", "--", made, "map", "1500"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 5, done.stderr
    found = json.loads((tmp_path / "profile.json").read_text())
    check_schema(found, "profile")
    assert found["samples"] > 0 and "refill_here" in str(found["tree"])
