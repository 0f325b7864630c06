"""Tests zerotax trace start, stop, status and --until. The program must record only the selected events, whose number
is known.
"""

import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest
from conftest import BUILD, NOBODY, ZEROTAX, check_schema, clean_environment, is_na, skip_if_unreadable
from tracing import TRACED, agree, numbers, summary, trace, traced


class Steered:
    """A running tests/traced/steered with a control folder."""

    def __init__(self, control, *, prefix=(), arguments=(), **environment):
        self.control = control
        if control is not None:
            environment["ZEROTAX_TRACE_CONTROL"] = str(control)
        self.process = subprocess.Popen([*prefix, TRACED / "steered", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=clean_environment(**environment))
        self.pid = self.process.pid

    def __enter__(self):
        self.do("numbers 0")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def do(self, line):
        """Makes the program carry out a command. Returns whether the program is recording afterwards."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert answer[:1] == ["ok"], self.process.communicate()[1]
        return answer[1] == "1"

    def end(self):
        errors = self.process.communicate()[1]
        assert self.process.returncode == 0
        return errors


@pytest.fixture(name="steered")
def program(tmp_path):
    with Steered(tmp_path / "control") as steered:
        yield steered


def ask(verb, steered, *options, status=0):
    """Returns the checked JSON of `zerotax trace` with this verb."""
    report = json.loads(trace(verb, "--pid", steered.pid, *options, "--json", "-", status=status).stdout)
    check_schema(report, "trace_control")
    assert report["action"] == verb and report["pid"] == steered.pid
    return report


def refused(verb, steered, *options, status=2):
    pid = steered if isinstance(steered, int) else steered.pid
    done = trace(verb, "--pid", pid, *options, status=status)
    assert done.stdout == "" and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_only_what_is_between_start_and_stop_is_recorded(steered, tmp_path):
    assert steered.do("numbers 100") is False
    report = ask("status", steered)
    assert report["state"] == "off" and is_na(report["folder"]) and is_na(report["records"]) and report["name"] == "steered"
    report = ask("start", steered, "-o", tmp_path / "t")
    assert (report["state"], report["records"], report["lost"]) == ("recording", 0, 0)
    assert steered.do("numbers 1000") is True
    report = ask("status", steered)
    assert (report["state"], report["records"], report["lost"]) == ("recording", 1100, 0)
    assert report["folder"] == str(tmp_path / "t" / f"process-{steered.pid}")
    report = ask("stop", steered)
    assert (report["state"], report["records"], report["lost"]) == ("off", 1100, 0)
    assert steered.do("numbers 50") is False
    assert numbers(tmp_path / "t") == {0: list(range(100, 1100))}
    assert agree(tmp_path / "t") == (1100, 0)
    assert steered.end() == ""


def test_it_can_be_started_anew(steered, tmp_path):
    for number in range(3):
        ask("start", steered, "-o", tmp_path / str(number))
        steered.do("numbers 10")
        steered.do("thread 10")
        ask("stop", steered)
        assert numbers(tmp_path / str(number)) == {0: list(range(20 * number, 20 * number + 20))}
        assert agree(tmp_path / str(number)) == (22, 0)


def test_a_program_that_ends_once_it_is_stopped_has_answered(tmp_path):
    """The program may end directly after it has answered `stop`."""
    for number in range(40):
        with Steered(tmp_path / "control") as steered:
            ask("start", steered, "-o", tmp_path / str(number))
            steered.do("numbers 10")
            steered.process.stdin.write("wait\n")
            steered.process.stdin.close()
            steered.process.stdin = None  # communicate() would flush stdin
            assert ask("stop", steered)["records"] == 11
            assert steered.process.wait(timeout=30) == 0


def test_the_options_of_start_are_the_traces(steered, tmp_path):
    report = ask("start", steered, "-o", tmp_path / "t", "--buffer", "128KiB", "--mode", "overwrite", "--drain", "off",
                 "--clock", "monotonic", "--event", "other", "--event", "num*", "--event", "!n?mber")
    assert [report[key] for key in ("buffer_bytes", "mode", "drain", "clock")] == [128 << 10, "overwrite", "off", "monotonic"]
    assert (report["events"], report["until"]) == ("other,num*,!n?mber", None)
    text = trace("status", "--pid", steered.pid).stdout
    assert "128 KiB per thread, overwrite, drain off, clock monotonic" in text and "other,num*,!n?mber" in text
    steered.do("numbers 1000")
    ask("stop", steered)
    found = summary(tmp_path / "t")
    assert {row["name"]: row["events"] for row in found["types"]} == {"other": 100}
    assert (found["processes"][0]["mode"], found["processes"][0]["clock"]) == ("overwrite", "monotonic")


def test_events_are_chosen_although_an_earlier_trace_had_others(steered, tmp_path):
    chosen = {"both": [], "other": ["--event", "other"], "number": ["--event", "!other"], "again": []}
    for name, options in chosen.items():
        ask("start", steered, "-o", tmp_path / name, *options)
        steered.do("numbers 1000")
        ask("stop", steered)
        found = {row["name"]: row["events"] for row in summary(tmp_path / name)["types"]}
        assert found == {key: count for key, count in (("number", 1000), ("other", 100)) if name in (key, "both", "again")}
        assert summary(tmp_path / name)["discarded"] == 0


def test_a_full_buffer_loses_what_its_mode_says(steered, tmp_path):
    for mode in ("lost", "overwrite"):
        ask("start", steered, "-o", tmp_path / mode, "--buffer", "64KiB", "--drain", "off", "--mode", mode)
        steered.do("numbers 100000")
        report = ask("stop", steered)
        assert report["lost"] > 0 and report["records"] + report["lost"] == 110000
        kept = numbers(tmp_path / mode)[0]
        first = 0 if mode == "lost" else 200000 - len(kept)
        assert kept == list(range(first, first + len(kept)))


def test_until_keeps_what_preceded_the_event(steered, tmp_path):
    report = ask("start", steered, "-o", tmp_path / "t", "--until", "other", "--buffer", "64KiB")
    assert (report["state"], report["mode"], report["drain"], report["until"]) == ("recording", "overwrite", "off", "other")
    assert steered.do("numbers 5") is True
    assert steered.do("numbers 1000") is False
    report = ask("status", steered)
    assert (report["state"], report["records"]) == ("triggered", 11)
    assert "stopped by its event" in trace("status", "--pid", steered.pid).stdout
    report = ask("stop", steered)
    assert (report["state"], report["records"], report["lost"]) == ("off", 11, 0)
    assert numbers(tmp_path / "t") == {0: list(range(10))}
    assert agree(tmp_path / "t") == (11, 0)
    # The second trace declares both types at its start, so `oth*` matches at once.
    ask("start", steered, "-o", tmp_path / "again", "--until", "oth*")
    assert steered.do("numbers 1000") is False
    ask("start", steered, "-o", tmp_path / "third")
    assert numbers(tmp_path / "again") == {0: list(range(1005, 1010))}
    steered.do("numbers 10")
    ask("stop", steered)
    assert agree(tmp_path / "third") == (11, 0)


def test_run_until_an_event(tmp_path):
    def run(event, folder):
        return subprocess.run([ZEROTAX, "trace", "run", "--until", event, "-o", folder, "--", TRACED / "steered"],
                              input="numbers 4000\nnumbers 7\nnumbers 1000\n", capture_output=True, text=True, check=False,
                              env=clean_environment())

    done = run("other", tmp_path / "t")
    assert done.returncode == 0 and "stopped at the first other" in done.stderr
    assert numbers(tmp_path / "t") == {0: list(range(10))}
    done = run("never", tmp_path / "u")
    assert "no never was recorded" in done.stderr and numbers(tmp_path / "u") == {0: list(range(5007))}


def test_a_crash_after_the_event_loses_nothing_that_preceded_it(tmp_path):
    done = subprocess.run([ZEROTAX, "trace", "run", "--until", "other", "-o", tmp_path / "t", "--", TRACED / "steered"],
                          input="numbers 500\nkill\n", capture_output=True, text=True, check=False, env=clean_environment())
    assert done.returncode == 137 and numbers(tmp_path / "t") == {0: list(range(10))}


def test_run_until_a_rate_of_faults(tmp_path):
    def run(folder, *lines):
        done = subprocess.run(
            [ZEROTAX, "trace", "run", "--until", "20000 faults in 20s", "-o", folder, "--", TRACED / "steered"],
            input="\n".join(lines) + "\n", capture_output=True, text=True, check=False, env=clean_environment())
        if done.returncode == 3:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
        return done

    done = run(tmp_path / "t", "numbers 1000", "burst 30000", "wait", "numbers 500")
    assert "stopped 1 process at 20,000 faults in 20.0 s" in done.stderr and done.stdout.splitlines()[-1] == "ok 0"
    assert numbers(tmp_path / "t") == {0: list(range(1000))}
    done = run(tmp_path / "u", "numbers 1000", "burst 5000", "numbers 500")
    assert "never 20,000 faults" in done.stderr and numbers(tmp_path / "u") == {0: list(range(1500))}


@pytest.mark.parametrize("options", [[], ["--mode", "overwrite", "--drain", "off", "--buffer", "64KiB"]], ids=["", "flight"])
def test_function_calls_have_names_in_every_trace(tmp_path, options):
    with Steered(tmp_path / "control", arguments=[TRACED / "instrumented.so"],
                 LD_PRELOAD=str(BUILD / "lib/libzerotax-functions.so")) as steered:
        steered.do("library 1")
        for number in range(2):
            ask("start", steered, "-o", tmp_path / str(number), *options)
            steered.do("library 3")
            ask("stop", steered)
            found = json.loads(trace("functions", tmp_path / str(number), "--json", "-").stdout)["functions"]
            assert {row["frame"]["function"]: row["calls"] for row in found} == {"called_in_library": 3, "called_by_called": 6}
            assert found[0]["frame"]["file"].endswith("instrumented.cc")


def test_children_record_with_their_parent_and_are_not_controlled(steered, tmp_path):
    ask("start", steered, "-o", tmp_path / "t")
    steered.do("fork 100")
    steered.do("numbers 10")
    assert ask("stop", steered)["records"] == 11
    trace("repair", tmp_path / "t")
    assert numbers(tmp_path / "t") == {0: list(range(10)), 1: list(range(100))}
    assert steered.end() == ""
    # The parent has removed its control file, and the child did not remove or add one.
    assert not list(steered.control.iterdir())


def test_it_may_record_at_full_speed_meanwhile(tmp_path):
    progress = tmp_path / "progress"
    progress.write_bytes(bytes(8))
    environment = clean_environment(ZEROTAX_TRACE_CONTROL=str(tmp_path / "control"))
    with subprocess.Popen([TRACED / "unending", progress], env=environment) as process:
        while not progress.read_bytes()[0]:
            assert process.poll() is None
        options = ["--pid", process.pid, "--buffer", "256KiB", "--mode", "overwrite", "--drain", "off"]
        for number in range(5):
            folder = tmp_path / str(number)
            trace("start", *options, "-o", folder)
            before = int.from_bytes(progress.read_bytes(), "little")
            while int.from_bytes(progress.read_bytes(), "little") < before + 20000:
                assert process.poll() is None
            trace("status", "--pid", process.pid)
            trace("stop", "--pid", process.pid)
            found = numbers(folder)[0]
            assert found == list(range(found[0], found[0] + len(found))) and len(found) > 1000
        process.kill()


def test_a_program_that_is_killed_while_it_records_keeps_everything(steered, tmp_path):
    ask("start", steered, "-o", tmp_path / "t")
    steered.do("numbers 777")
    steered.process.send_signal(signal.SIGKILL)
    steered.process.wait()
    assert numbers(tmp_path / "t") == {0: list(range(777))}
    for verb in ("start", "stop", "status"):
        assert f"there is no process {steered.pid}" in refused(verb, steered)


def test_a_stopped_process_does_not_answer_and_later_does_nothing(steered):
    steered.process.send_signal(signal.SIGSTOP)
    asking = subprocess.Popen([ZEROTAX, "trace", "start", "--pid", str(steered.pid)], stderr=subprocess.PIPE, text=True,
                              env=clean_environment())
    errors = asking.communicate()[1]
    assert asking.returncode == 3 and "does not answer" in errors and errors.count("\n") == 1
    steered.process.send_signal(signal.SIGCONT)
    assert steered.do("numbers 1") is False and ask("status", steered)["state"] == "off"


def test_what_is_not_possible_is_said_and_changes_nothing(steered, tmp_path):
    assert "is not recording" in refused("stop", steered)
    (tmp_path / "file").write_text("mine")
    assert "not a folder" in refused("start", steered, "-o", tmp_path / "file")
    assert "cannot record" in refused("start", steered, "-o", "/proc/none")
    assert ask("status", steered)["state"] == "off"
    ask("start", steered, "-o", tmp_path / "t")
    line = refused("start", steered, "-o", tmp_path / "u")
    assert "already recording" in line and "zerotax trace stop" in line and not (tmp_path / "u").exists()
    assert steered.do("numbers 10") is True
    assert ask("stop", steered)["records"] == 11
    assert steered.end() == ""


def test_a_process_without_a_recorder_or_control_is_refused(tmp_path):
    with subprocess.Popen(["sleep", "60"], env=clean_environment()) as sleep:
        assert "ZEROTAX_TRACE_CONTROL" in refused("status", sleep.pid)
        assert "has no recorder" in refused("status", sleep.pid, "--control", tmp_path)
        sleep.kill()
    with subprocess.Popen(["sleep", "60"], env=clean_environment(ZEROTAX_TRACE_CONTROL=str(tmp_path))) as sleep:
        assert "has no recorder" in refused("start", sleep.pid)
        sleep.kill()
    with Steered(None) as steered:
        assert "cannot be controlled" in refused("start", steered)
        assert steered.do("numbers 1") is False
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert "there is no process" in refused("stop", ended.pid)


def test_the_file_of_a_process_that_was_killed_is_no_other_ones(tmp_path):
    with Steered(tmp_path / "control") as steered:
        old = tmp_path / "control" / f"control-{steered.pid}"
        with subprocess.Popen(["sleep", "60"], env=clean_environment(ZEROTAX_TRACE_CONTROL=str(tmp_path / "control"))) as sleep:
            # A control file like that of a process that started right after boot.
            data = old.read_bytes()
            (tmp_path / "control" / f"control-{sleep.pid}").write_bytes(data[:16] + (1).to_bytes(8, "little") + data[24:])
            assert "has no recorder" in refused("status", sleep.pid)
            (tmp_path / "control" / f"control-{sleep.pid}").write_bytes(b"x" * 100)
            assert "this version" in refused("status", sleep.pid)
            sleep.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is nobody's other user")
def test_an_environment_that_root_may_not_read_is_not_said_to_be_another_users(tmp_path):
    (tmp_path / "environ").touch(mode=0)
    drop = "-dac_override,-dac_read_search"
    line = (f"mount --bind '{tmp_path}/environ' /proc/$1/environ || exit 77; "
            f"exec setpriv --bounding-set={drop} --inh-caps={drop} '{ZEROTAX}' trace start --pid $1")
    with subprocess.Popen(["sleep", "60"]) as process:
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", line, "sh", str(process.pid)],
                              check=False, capture_output=True, text=True, env=clean_environment())
        process.kill()
    if done.returncode in (1, 77):
        pytest.skip("this root may not mount")
    assert done.returncode == 3 and "cannot be read" in done.stderr and "--control" in done.stderr, done.stderr
    assert "another user" not in done.stderr


def test_permissions_of_the_file_decide_who_may(tmp_path):
    skip_if_unreadable()
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    # Other users cannot enter pytest's folder.
    folder = tempfile.mkdtemp(dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        with Steered(f"{folder}/control") as steered:
            file = f"{folder}/control/control-{steered.pid}"
            assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
            assert stat.S_IMODE(os.stat(f"{folder}/control").st_mode) == 0o700

            def by_nobody(*options):
                return subprocess.run([*NOBODY, ZEROTAX, "trace", "status", "--pid", str(steered.pid), *options], check=False,
                                      capture_output=True, text=True, env=clean_environment())

            done = by_nobody()
            assert done.returncode == 3 and "another user" in done.stderr and done.stderr.count("\n") == 1
            done = by_nobody("--control", f"{folder}/control")
            assert done.returncode == 3 and "you may not control" in done.stderr and done.stderr.count("\n") == 1
            os.chmod(f"{folder}/control", 0o755)
            os.chmod(file, 0o666)
            done = by_nobody("--control", f"{folder}/control")
            assert done.returncode == 0 and "(steered): off" in done.stdout
        os.chown(f"{folder}/control", 65534, 65534)
        with Steered(f"{folder}/control", prefix=NOBODY) as steered:
            assert ask("status", steered)["state"] == "off"
            assert "Permission denied" in refused("start", steered, "-o", "/root/zerotax-no")
    finally:
        shutil.rmtree(folder)


def test_a_control_folder_that_cannot_be_made_is_said_and_the_program_runs(tmp_path):
    (tmp_path / "file").write_text("")
    done = traced("pressure", 10, folder="", ZEROTAX_TRACE_CONTROL=str(tmp_path / "file"))
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and "ZEROTAX_TRACE_CONTROL" in done.stderr


@pytest.mark.parametrize("name, value", [("EVENTS", "a,,b"), ("EVENTS", "a b"), ("EVENTS", "!"), ("UNTIL", "x-y")])
def test_a_bad_list_of_events_is_said_and_the_program_runs(tmp_path, name, value):
    done = traced("first", folder=tmp_path / "t", **{f"ZEROTAX_TRACE_{name}": value})
    assert done.returncode == 0 and done.stderr.count("\n") == 1 and name in done.stderr
    assert not (tmp_path / "t").exists()


def test_events_can_be_chosen_by_the_environment(tmp_path):
    traced("first", folder=tmp_path / "t", ZEROTAX_TRACE_EVENTS="*,!request_*,!e*")
    assert {row["name"]: row["events"] for row in summary(tmp_path / "t")["types"]} == {"tick": 1}
