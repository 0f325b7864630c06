"""Tests that zerotax top counts the faults of programs whose faults are known, and that its files contain the same
counts.
"""

import collections
import contextlib
import json
import os
import re
import signal
import subprocess

import pytest
from conftest import BUILD, INTERRUPTED_BY_SIGTERM, MIB, NOBODY, PAGE, ZEROTAX, check_schema, \
    clean_environment, skip_if_unreadable, \
    zerotax
from refusing import refused
from waiting import wait_for

WATCHED = BUILD / "tests" / "recorded" / "watched"
ALL = ["--rows", "100000"]


@contextlib.contextmanager
def watched(*words):
    """Starts the program, and yields it after its first work, which takes additional faults."""
    with subprocess.Popen([WATCHED, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout.readline() == "started\n"
        try:
            work(program)
            yield program
        finally:
            program.kill()


def work(program):
    """Makes the program work once. Returns the minor faults that the program counted, including its children's."""
    program.stdin.write("work\n")
    program.stdin.flush()
    own, children = program.stdout.readline().split()
    return int(own), int(children)


class Top:
    """A running zerotax top, whose output is read sample by sample."""

    def __init__(self, *words):
        self.run = subprocess.Popen([ZEROTAX, "top", "--json", "-", *map(str, words)], stdout=subprocess.PIPE, text=True,
                                    env=clean_environment())

    def __enter__(self):
        self.sample()
        return self

    def __exit__(self, *_):
        self.run.kill()
        self.run.wait()
        self.run.stdout.close()

    def sample(self):
        found = json.loads(self.run.stdout.readline())
        check_schema(found, "top")
        check_bounds(found)
        return found

    def until(self, pid, faults):
        """Returns the samples up to the sample in which the sum reaches `faults`, and the next sample. Work may take
        long, so earlier samples wait in the pipe.
        """
        samples = [self.sample()]
        while total(samples, pid, "minor_faults") < faults and len(samples) < 400:
            samples.append(self.sample())
        return [*samples, self.sample()]


def check_bounds(sample):
    machine = sample["machine"]
    if "na" not in str(machine["unseen_share"]):
        assert 0 <= machine["unseen_share"] <= 1
    for row in sample["rows"]:
        assert row["zeroed_at_most_bytes"] >= PAGE * (row["minor_faults"] + row["children_faults"])
        if isinstance(row["fault_cpu_share"], float):
            assert 0 <= row["fault_cpu_share"] <= 1
        if not isinstance(row["fault_cpu_estimated_ns"], dict):
            assert row["fault_cpu_estimated_ns"] <= row["cpu_ns"]
        if not isinstance(row["refilled_at_most_bytes"], dict):
            assert row["refilled_at_most_bytes"] <= row["zeroed_at_most_bytes"]


def total(samples, pid, key):
    return sum(row[key] for sample in samples for row in sample["rows"] if row.get("pid") == pid)


def huge_faults():
    """Returns the bytes that the whole system has populated in huge pages. A bound must include all of these bytes,
    because the process that populated them is unknown.
    """
    with open("/proc/vmstat", encoding="ascii") as lines:
        return 2 * MIB * sum(int(line.split()[1]) for line in lines if line.startswith("thp_fault_alloc "))


def test_a_program_that_refills_is_counted_exactly():
    before = huge_faults()
    with watched("refill", 5000) as program, Top("--pid", program.pid, "--interval", "0.3") as top:
        faults = sum(work(program)[0] for _ in range(3))
        samples = top.until(program.pid, faults)
        assert faults >= 15000
        assert total(samples, program.pid, "minor_faults") == faults
        most = total(samples, program.pid, "refilled_at_most_bytes")
        assert 14850 * PAGE <= most <= 15150 * PAGE + huge_faults() - before


def test_a_program_that_only_grows_refills_nothing():
    before = huge_faults()
    with watched("grow", 20000) as program, Top("--pid", program.pid, "--interval", "0.3") as top:
        own, _ = work(program)
        samples = top.until(program.pid, own)
        assert total(samples, program.pid, "minor_faults") == own >= 20000
        assert total(samples, program.pid, "refilled_at_most_bytes") <= 200 * PAGE + huge_faults() - before
        assert samples[-1]["rows"][0]["anonymous_bytes"] >= 19000 * PAGE


def test_short_children_are_counted_once():
    """Children that a scan found have their own rows. The faults of all other children count for their parent."""
    with watched("forks", 500) as program, Top(*ALL, "--interval", "0.05") as top:
        first = top.sample()
        own, children = work(program)
        samples = [first, *(top.sample() for _ in range(3))]
        while any(row.get("parent") == program.pid for row in samples[-1]["rows"]):
            samples.append(top.sample())
        # The samples taken during the work may still be in the pipe.
        while total(samples, program.pid, "children_faults") < children * 0.9 and len(samples) < 400:
            samples.append(top.sample())
        samples += [top.sample(), top.sample()]
    assert children > 10000
    met = sum(row["minor_faults"] for sample in samples for row in sample["rows"] if row["parent"] == program.pid)
    assert met + total(samples, program.pid, "children_faults") == children
    # After its last fork and its own count, the program may still write to shared pages.
    assert own <= total(samples, program.pid, "minor_faults") <= own + 20


def test_unseen_faults_are_those_of_nobody():
    with watched("refill", 50000) as program, Top(*ALL, "--interval", "0.3") as top:
        own, _ = work(program)
        samples = top.until(program.pid, own)
    assert total(samples, program.pid, "minor_faults") == own
    assert sum(sample["machine"]["faults"] for sample in samples) >= own
    for sample in samples:
        machine = sample["machine"]
        assert machine["seen_faults"] == sum(row["minor_faults"] + row["major_faults"] for row in sample["rows"])
        # The parts and the total are read one after the other, so the sum of the parts may exceed the total.
        assert machine["seen_faults"] + machine["children_faults"] + machine["unseen_faults"] >= machine["faults"]


def test_a_thousand_sleeping_processes_are_all_there():
    with watched("crowd", 1000, "thousand") as program:
        done = zerotax("top", "--samples", "2", "--interval", "0.5", "--json", "-", *ALL)
        sample = json.loads(done.stdout.splitlines()[-1])
        check_schema(sample, "top")
        crowd = [row for row in sample["rows"] if row["parent"] == program.pid]
        assert len(crowd) == 1000 and not any(row["minor_faults"] for row in crowd)
        assert sample["own"]["cpu_ns"] > 0
        text = zerotax("top", "--once", "--interval", "0.1").stdout
        assert all(len(line) <= 80 for line in text.splitlines()), text
        assert "own cost: " in text and re.search(r"^[\d,]+ more rows$", text, re.M)


def test_few_descriptors_cost_time_but_no_process():
    with watched("crowd", 200, "two hundred") as program:
        done = zerotax("top", "--samples", "4", "--interval", "0.2", "--json", "-", *ALL, prefix=("prlimit", "--nofile=100:100"))
        crowds = [[row for row in json.loads(line)["rows"] if row["parent"] == program.pid] for line in done.stdout.splitlines()]
        assert list(map(len, crowds)) == [200] * 4, done.stderr


def test_a_name_with_parentheses_and_blanks():
    with watched("name", 1, "a) R 1 (b") as program:
        done = zerotax("top", "--once", "--interval", "0.1", "--json", "-", "--pid", program.pid)
        row, = json.loads(done.stdout)["rows"]
        assert row["name"] == "a) R 1 (b" and row["pid"] == program.pid and row["parent"] == os.getpid()


@pytest.mark.parametrize("by", ["user", "cgroup", "command"])
def test_groups_are_the_sums_of_their_processes(by):
    with watched("crowd", 30, f"by {by}"):
        done = zerotax("top", "--once", "--interval", "0.1", "--json", "-", "--by", by, *ALL)
        sample = json.loads(done.stdout)
        check_schema(sample, "top")
        assert sum(row["processes"] for row in sample["rows"]) == sample["processes"]
        assert all("pid" not in row for row in sample["rows"])
        if by == "command":
            assert {row["name"]: row["processes"] for row in sample["rows"]}["by command"] == 31
        if by == "cgroup":
            with open("/proc/self/cgroup", encoding="ascii") as file:
                fields = [line.rstrip("\n").split(":", 2) for line in file]
            own = [path for _, controllers, path in fields if "memory" in controllers.split(",")] or [fields[-1][2]]
            assert {row["name"]: row["processes"] for row in sample["rows"]}[own[0]] >= 31


def test_rows_are_sorted_and_filtered():
    with watched("crowd", 5, "A few") as program:
        done = zerotax("top", "--once", "--interval", "0.1", "--json", "-", "--sort", "pid", "--filter", "a FEW")
        rows = json.loads(done.stdout)["rows"]
        assert [row["pid"] for row in rows] == sorted(row["pid"] for row in rows)
        assert program.pid in [row["pid"] for row in rows] and {row["name"] for row in rows} == {"A few"}
        done = zerotax("top", "--once", "--interval", "0.1", "--json", "-", "--sort", "rss")
        sizes = [row["resident_bytes"] for row in json.loads(done.stdout)["rows"]]
        assert sizes == sorted(sizes, reverse=True) and len(sizes) <= 20


def test_it_ends_with_the_last_process_that_it_watches():
    with watched("name", 1) as program:
        with subprocess.Popen([ZEROTAX, "top", "--pid", str(program.pid), "--interval", "0.1"], stdout=subprocess.PIPE,
                              env=clean_environment()) as top:
            top.stdout.readline()
            program.kill()
            program.wait()
            assert top.wait(30) == 0


def test_a_log_is_bounded_and_rotates(tmp_path):
    log = tmp_path / "top.log"
    log.write_text("")
    done = zerotax("top", "--samples", "60", "--interval", "0.05", "--log", log, "--log-size", "64KiB")
    assert done.returncode == 0, done.stderr
    earlier = tmp_path / "top.log.1"
    assert earlier.exists() and log.stat().st_size + earlier.stat().st_size <= 64 << 10
    times = []
    for line in (earlier.read_text() + log.read_text()).splitlines():
        sample = json.loads(line)
        check_schema(sample, "top")
        times.append(sample["time"])
    assert times == sorted(times)


def test_a_killed_writer_leaves_whole_lines_and_the_next_one_continues(tmp_path):
    log = tmp_path / "top.log"
    with subprocess.Popen([ZEROTAX, "top", "--interval", "0.05", "--log", log], stdout=subprocess.DEVNULL,
                          env=clean_environment()) as top:
        try:
            assert wait_for(lambda: log.exists() and log.read_text().count("\n") > 3)
            other = zerotax("top", "--once", "--log", log)
            refused(other, f"process {top.pid} (", "top.log")
        finally:
            top.kill()
    before = log.read_text()
    assert before.endswith("\n") and all(json.loads(line) for line in before.splitlines())
    with log.open("a") as file:
        file.write('{"schema":"zerotax.top/1","half')
    assert zerotax("top", "--once", "--interval", "0.1", "--log", log).returncode == 0
    after = log.read_text()
    assert after.startswith(before) and len(after.splitlines()) == len(before.splitlines()) + 1
    assert all(json.loads(line) for line in after.splitlines())


def prometheus(text):
    """Returns {name: {labels: value}} and {name: type} from the text format. Every name must be described before its
    values.
    """
    values, types, helped = collections.defaultdict(dict), {}, set()
    for line in text.splitlines():
        if found := re.fullmatch(r"# HELP (\w+) (\S.*)", line):
            helped.add(found.group(1))
        elif found := re.fullmatch(r"# TYPE (\w+) (counter|gauge)", line):
            types[found.group(1)] = found.group(2)
        else:
            name, labels, value = re.fullmatch(r'(zerotax_\w+)(\{\w+="(?:[^"\\\n]|\\.)*"\})? (\S+)', line).groups()
            assert name in types and name in helped, "described before its values"
            assert labels not in values[name]
            values[name][labels or ""] = float(value)
    return values, types


def test_prometheus_reads_its_file(tmp_path):
    file = tmp_path / "zerotax.prom"
    with watched("name", 1, 'a"b\\c'):
        done = zerotax("top", "--samples", "3", "--interval", "0.1", "--prometheus", file)
    assert done.returncode == 0, done.stderr
    values, types = prometheus(file.read_text())
    assert all(name.endswith("_total") == (kind == "counter") for name, kind in types.items())
    assert values["zerotax_top_samples_total"] == {"": 3}
    assert '{command="a\\"b\\\\c"}' in values["zerotax_resident_bytes"]
    assert sum(values["zerotax_minor_faults_total"].values()) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["zerotax.prom"], "nothing temporary is left"


def test_promtool_accepts_it(tmp_path):
    file = tmp_path / "zerotax.prom"
    assert zerotax("top", "--once", "--interval", "0.1", "--by", "user", "--prometheus", file).returncode == 0
    try:
        done = subprocess.run(["promtool", "check", "metrics"], input=file.read_text(), capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        pytest.skip("promtool (package prometheus) is not here")
    assert done.returncode == 0, done.stdout + done.stderr


def test_counters_never_fall(tmp_path):
    file = tmp_path / "zerotax.prom"
    before = {}
    with subprocess.Popen([ZEROTAX, "top", "--interval", "0.05", "--prometheus", file], stdout=subprocess.DEVNULL,
                          env=clean_environment()) as top:
        for _ in range(20):
            assert wait_for(file.exists)
            values, types = prometheus(file.read_text())
            for name in (name for name, kind in types.items() if kind == "counter"):
                for labels, value in values[name].items():
                    assert value >= before.get((name, labels), 0)
                    before[name, labels] = value
        top.send_signal(signal.SIGTERM)
        assert top.wait(30) == INTERRUPTED_BY_SIGTERM


def test_a_reader_that_goes_is_no_error():
    done = subprocess.run(["bash", "-c", f"'{ZEROTAX}' top --interval 0.05 | head -n 3; exit ${{PIPESTATUS[0]}}"],
                          capture_output=True, text=True, check=False, timeout=60, env=clean_environment())
    assert done.returncode == 128 + signal.SIGPIPE and done.stderr == "" and done.stdout.startswith("zerotax top ")


def test_an_ordinary_user_sees_everybody():
    skip_if_unreadable()
    with watched("refill", 1000) as program:
        done = zerotax("top", "--once", "--interval", "0.1", "--json", "-", "--pid", program.pid, prefix=NOBODY)
        row, = json.loads(done.stdout)["rows"]
        assert row["pid"] == program.pid and row["anonymous_bytes"] >= 900 * PAGE


def test_a_namespace_of_its_own_says_what_it_cannot_see():
    line = f"mount -t proc proc /proc && exec '{ZEROTAX}' top --once --interval 0.1"
    done = subprocess.run(["unshare", "--fork", "--pid", "--mount", "sh", "-c", line], capture_output=True, text=True,
                          check=False, env=clean_environment())
    if "zerotax" not in done.stdout + done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert "only processes of this container are seen" in done.stdout


@pytest.mark.parametrize("hidden, words", [(2, "not seen: processes of other users are hidden (hidepid)"),
                                           (1, "1 process may not be read")])
def test_hidden_processes_are_named(hidden, words):
    skip_if_unreadable()
    user = " ".join(NOBODY)
    line = f"mount -t proc -o hidepid={hidden} proc /proc && {{ sleep 9 & exec {user} '{ZEROTAX}' top --once --interval 0.1; }}"
    done = subprocess.run(["unshare", "--fork", "--pid", "--mount", "sh", "-c", line], capture_output=True, text=True,
                          check=False, env=clean_environment())
    if "zerotax" not in done.stdout + done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr}")
    assert words in done.stdout, done.stdout + done.stderr


def test_without_proc_it_says_so():
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /proc && exec '{ZEROTAX}' top --once"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    if "zerotax" not in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr}")
    assert done.returncode == 3 and done.stderr.count("\n") == 1 and "proc" in done.stderr


def test_mistakes_are_refused(tmp_path):
    for words, said in ((["--pid", "4194304"], "no process"), (["--pid", "0"], "invalid PID"),
                        (["--interval", "0"], "--interval"), (["--log", "/nonexistent/x"], "/nonexistent"),
                        (["--log", "-"], "needs a file"), (["--log", "x", "--log-size", "1KiB"], "--log-size"),
                        (["--by", "colour"], "process"), (["--sort", "size"], "faults"), (["--rows", "0"], "--rows"),
                        (["--samples", "0"], "--samples"),
                        (["--once", "--samples", "2"], "together"), (["--log-size", "1MiB"], "without --log"),
                        (["--json", "a", "--log", "a"], "both write")):
        refused(zerotax("top", *words, cwd=tmp_path), said)
    assert not list(tmp_path.iterdir())
    (tmp_path / "mine").write_text("my own\n")
    for option in ("--json", "--log", "--prometheus"):
        refused(zerotax("top", "--once", option, "mine", cwd=tmp_path), "would replace")
    (tmp_path / "top.log.1").write_text("my own\n")
    refused(zerotax("top", "--once", "--log", "top.log", cwd=tmp_path), "top.log.1", "would replace")
