"""Tests --on slurm with a real Slurm: a node is killed, the command is interrupted or killed, or a shard fails."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest
import slurm_cluster
from conftest import (DETERMINISTIC, INTERRUPTED_BY_SIGINT, ZEROTAX, check_schema, clean_environment, differences, options,
                      read_folder, zerotax)
from waiting import wait_for

pytestmark = pytest.mark.skipif(slurm_cluster.missing() is not None, reason=str(slurm_cluster.missing()))

SIZES = ["64KiB", "200KiB", "1MiB", "3MiB", "8MiB", "20MiB"]
GRID = ["--allocator", "glibc", "--allocator", "jemalloc", *options("size", SIZES), "--touch", "0", "--touch", "1",
        "--audit-only"]


@pytest.fixture(scope="module", name="cluster")
def _cluster(tmp_path_factory):
    with slurm_cluster.Cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module", name="local")
def _local():
    return by_key(json.loads(zerotax("run", *GRID, "--json", "-").stdout)["points"])


def key_of(point):
    return tuple(point[key] for key in ("allocator", "case", "size_bytes", "touch", "thread"))


def by_key(points):
    return {key_of(point): point for point in points}


def check_equal(points, local):
    """Fails if a point is missing or occurs twice, or if its counts differ from the local run's."""
    assert len(points) == len(local)
    found = by_key(points)
    assert found.keys() == local.keys()
    for key, point in found.items():
        assert point["status"] == "ok", point["reason"]
        assert differences(point, local[key], [name for name in DETERMINISTIC if "faults" not in name]) == [], key


def started(cluster, *arguments):
    return subprocess.Popen([ZEROTAX, *map(str, arguments)], env=clean_environment(**cluster.environment),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def results_in(folder):
    """Returns the lines that tasks have written, after checking them."""
    lines = [line for file in folder.glob("fleet/points/results-*.jsonl") for line in file.read_text().splitlines(True)]
    for line in lines:
        if line.endswith("\n"):
            check_schema(json.loads(line), "shard_result")
    return lines


def job_of(errors):
    """The number of the job that a command submitted."""
    return re.search(r"submitted job (\d+) ", errors).group(1)


@pytest.fixture(scope="module", autouse=True, name="killed")
def _killed(cluster, tmp_path_factory):
    """A run that loses a node in the middle of a shard. Slurm takes twenty seconds to notice the loss and to start the
    task on the other node, so tests share this run.
    """
    folder = tmp_path_factory.mktemp("killed") / "run"
    with started(cluster, "run", *GRID, "--on", "slurm,shards=6", "--out", folder) as run:
        assert wait_for(lambda: cluster.stop_a_task("n1"))
        assert wait_for(lambda: results_in(folder))
        cluster.kill_node("n1")
        yield run, folder
        run.kill()


def check_unlike_hosts_are_told_apart(folder, other):
    """Changes a copy of the run as if n2 had another processor."""
    assert "INVALID" not in zerotax("compare", folder, folder).stdout
    shutil.copytree(folder, other)
    run = json.loads((other / "run.json").read_text())
    run["environments"]["n2"]["cpu"] = "another"
    (other / "run.json").write_text(json.dumps(run))
    text = zerotax("compare", folder, other, "--json", "-").stdout
    for point, where in zip(json.loads(text)["points"], read_folder(folder)[1]):
        assert (point["verdict"] == "INVALID" and "cpu: " in point["reason"]) == (where["host"] == "n2")


@pytest.mark.long("a run on the cluster, twice")
def test_an_interrupted_run_leaves_nothing_running_and_resumes(cluster, local, tmp_path):
    folder = tmp_path / "run"
    with started(cluster, "run", *GRID, "--on", "slurm,shards=5", "--out", folder) as run:
        assert wait_for(lambda: results_in(folder))
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == INTERRUPTED_BY_SIGINT, errors
    last = errors.splitlines()[-1]
    assert f"resume with: zerotax run --resume {folder} --on slurm" in last
    assert not cluster.unfinished(job_of(errors))
    head, points = read_folder(folder)
    assert head["state"] == "interrupted"
    assert 0 < len(points) < len(local)
    again = zerotax(*last.split("zerotax ")[-1].split(), **cluster.environment)
    assert again.returncode == 0, again.stderr
    head, points = read_folder(folder)
    check_equal(points, local)
    assert head["state"] == "complete"


@pytest.mark.long("a run on the cluster, twice")
def test_a_job_goes_on_without_its_command_and_a_merge_that_was_cut_short_is_finished(cluster, local, tmp_path):
    folder = tmp_path / "run"
    command = ["run", *GRID, "--on", "slurm,shards=4", "--out", folder]
    with started(cluster, *command) as run:
        assert wait_for(lambda: results_in(folder))
        run.kill()
    jobs = cluster.jobs()
    done = zerotax(*command, **cluster.environment)
    assert done.returncode == 0, done.stderr
    assert "submitted" not in done.stderr
    check_equal(read_folder(folder)[1], local)
    # A kill in the middle of the merge leaves some points, the last of them incomplete.
    lines = (folder / "points.jsonl").read_bytes().splitlines(True)
    (folder / "points.jsonl").write_bytes(b"".join(lines[:5]) + lines[5][:40])
    done = zerotax(*command, **cluster.environment)
    assert done.returncode == 0, done.stderr
    assert (folder / "points.jsonl").read_bytes() == b"".join(lines)
    assert cluster.jobs() == jobs
    # The remaining points can be measured without Slurm as well.
    (folder / "points.jsonl").write_bytes(b"".join(lines[:-1]))
    assert zerotax("run", "--resume", folder, SLURMD_NODENAME="here").returncode == 0
    head, points = read_folder(folder)
    check_equal(points, local)
    assert points[-1]["host"] == "here" and "here" in head["environments"]
    assert head["environment"] == head["environments"][points[0]["host"]]


def test_a_shard_that_fails_is_reported_and_can_go_on(cluster, tmp_path):
    """The library is missing for a while, as if a node had not mounted its folder."""
    library = tmp_path / "libmine.so"
    source = os.path.realpath("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
    shutil.copy(source, library)
    folder = tmp_path / "run"
    words = ["run", "--allocator", f"mine={library}", "--size", "64KiB", "--size", "1MiB", "--audit-only", "--out", folder,
             "--on"]
    with started(cluster, *words, "slurm,--hold") as run:
        assert wait_for(cluster.held)
        library.unlink()
        cluster.run("scontrol", "release", cluster.held())
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 3, errors
    last = errors.splitlines()[-1]
    assert "2 of 2 shards failed: the first is shard 0 on n" in last and "no library" in last
    shutil.copy(source, library)
    done = zerotax(*words, "slurm", **cluster.environment)
    assert done.returncode == 0, done.stderr
    assert len(read_folder(folder)[1]) == 2


def test_where_times_are_taken_each_task_has_a_node_and_each_host_says_its_load(cluster, tmp_path):
    done = zerotax("run", "--allocator", "glibc", "--size", "64KiB", "--size", "20MiB", "--ops", 8, "--on", "slurm", "--out",
                   tmp_path / "run", **cluster.environment)
    assert done.returncode == 0, done.stderr
    assert "OverSubscribe=NO" in cluster.run("scontrol", "--oneliner", "show", "job", job_of(done.stderr))
    head, points = read_folder(tmp_path / "run")
    hosts = {point["host"] for point in points}
    assert set(head["loads"]) == hosts and all(point["calloc_ns"]["median"] > 0 for point in points)
    assert head["load"]["busy"] == any(load["busy"] for load in head["loads"].values())
    count = f"{len(hosts)} host{'s' if len(hosts) > 1 else ''}"
    assert count in head["load"]["sentence"] and any(host in head["load"]["sentence"] for host in hosts)
    # The table and the summary report the load.
    for text in (done.stdout, zerotax("findings", tmp_path / "run", "--summary").stdout):
        assert ("Measured under load on" in " ".join(text.split())) == head["load"]["busy"]


def test_a_killed_node_loses_nothing(cluster, local, killed, tmp_path):
    run, folder = killed
    text, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors + text
    assert "Restarts=1" in cluster.run("scontrol", "--oneliner", "show", "job", job_of(errors))
    head, points = read_folder(folder)
    check_equal(points, local)
    # The killed node may not have finished any point.
    assert {"n2"} <= {point["host"] for point in points} <= set(head["environments"]) <= {"n1", "n2"}
    assert head["state"] == "complete"
    assert head["comparable_times"] == {"hosts": sorted(head["environments"]), "left_out": {}}
    order = [tuple(point[key] for key in ("size_bytes", "touch", "allocator")) for point in points]
    assert order == sorted(order)  # the order of a run on one host
    assert zerotax("findings", folder).returncode in (0, 1)
    check_unlike_hosts_are_told_apart(folder, tmp_path / "other")
    for name, schema in (("fleet/points/fleet.json", "fleet"), ("fleet/hosts/n2.json", "host")):
        check_schema(json.loads((folder / name).read_text()), schema)
