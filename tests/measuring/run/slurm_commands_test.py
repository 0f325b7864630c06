"""--on slurm gives each command the same result as a local run, and refuses in one line what Slurm cannot do."""

import json
import signal
import subprocess
import sys

import pytest
import slurm_cluster
from conftest import INTERRUPTED_BY_SIGINT, SOURCE, ZEROTAX, check_schema, clean_environment, read_folder, zerotax
from waiting import wait_for

sys.path.append(str(SOURCE / "tests" / "regression" / "bisect"))
from projects import BROKEN, GOOD, HOW, QUICK, ZEROES, make_project, untouched  # noqa: E402

pytestmark = pytest.mark.skipif(slurm_cluster.missing() is not None, reason=str(slurm_cluster.missing()))

# For each command, arguments for a short run, without --on and --out.
COMMANDS = {
    "run": ["run", "--allocator", "glibc", "--size", "64KiB", "--audit-only"],
    "study": ["study", "--allocator", "glibc", "--audit-only"],
    "thresholds": ["thresholds", "--allocator", "glibc", "--from", "64KiB", "--to", "256KiB", "--touch", "0"],
    "history": ["history", *HOW, *QUICK, "--tags", "v*", "--repo"],
}


@pytest.fixture(scope="module", name="cluster")
def _cluster(tmp_path_factory):
    with slurm_cluster.Cluster(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="module", name="project")
def _project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a project") / "my allocator"
    make_project(folder, [GOOD, BROKEN, ZEROES], [("v1", 1), ("v2", 2), ("v3", 3)])
    return folder


@pytest.fixture(name="words", params=COMMANDS)
def _words(request, project):
    return [*COMMANDS[request.param], *([project] if request.param == "history" else [])]


def last_line(done):
    """The only message of a refused command, apart from lines about progress and the submitted job."""
    lines = [line for line in done.stderr.splitlines()
             if not line.startswith(("zerotax: submitted job", "measuring on Slurm: "))]
    assert len(lines) == 1 and lines[0].startswith("zerotax: "), done.stderr
    return lines[0]


def test_thresholds_are_those_that_are_found_here(cluster, tmp_path):
    words = [*COMMANDS["thresholds"], "--json", "-"]
    here = json.loads(zerotax(*words).stdout)
    done = zerotax(*words, "--on", "slurm", "--out", tmp_path / "found", **cluster.environment)
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    check_schema(there, "thresholds")
    assert there == json.loads((tmp_path / "found" / "thresholds.json").read_text())
    hosts = {lane.pop("host") for lane in there["lanes"]}
    assert hosts == set(there.pop("environments"))
    for document in (here, there):
        del document["started"], document["environment"]
    assert here == there


@pytest.mark.long("versions built on the cluster")
def test_versions_are_built_and_measured_by_tasks_and_compared_here(cluster, project, tmp_path):
    words = [*COMMANDS["history"], project]
    with untouched(project):
        here = json.loads(zerotax(*words, "--json", "-", XDG_CACHE_HOME=str(tmp_path)).stdout)
        environment = {**cluster.environment, "XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
        done = zerotax(*words, "--full", "--on", "slurm", "--out", tmp_path / "out", **environment)
    assert done.returncode == 0, done.stderr
    kept = {path.name for path in (tmp_path / "elsewhere" / "zerotax").glob("*")}
    assert kept <= {"matplotlib"}, "nothing is built where the command runs"
    there = json.loads((tmp_path / "out" / "history.json").read_text())
    check_schema(there, "history")
    assert (tmp_path / "out" / "history.txt").read_text() == done.stdout
    assert [row["state"] for row in there["versions"]] == ["measured", "not_built", "measured"]
    assert {row["host"] for row in there["versions"] if "host" in row} <= set(there["environments"])
    for one, other in zip(here["versions"], there["versions"]):
        assert ("baseline" in other) == ("host" in other)
        for key in ("name", "changed", "pieces", "difference", "compared_with"):
            assert one.get(key) == other.get(key), key
        assert one.get("baseline", {}).get("points") == other.get("baseline", {}).get("points")
    jobs = cluster.jobs()
    again = zerotax(*words, "--full", "--on", "slurm", "--out", tmp_path / "out", **environment)
    assert again.returncode == 0 and again.stdout == done.stdout and cluster.jobs() == jobs


def test_an_interrupted_study_has_a_summary_and_says_how_to_resume(cluster, tmp_path):
    """Interrupts a study on Slurm. tests/benchmarks/fleet_nodes/two_nodes.py runs a whole study."""
    folder = tmp_path / "study"
    with subprocess.Popen([ZEROTAX, *COMMANDS["study"], "--on", "slurm", "--out", folder], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=clean_environment(**cluster.environment)) as study:
        assert wait_for(lambda: any(file.stat().st_size for file in folder.glob("fleet/points/results-*.jsonl")))
        study.send_signal(signal.SIGINT)
        _, errors = study.communicate(timeout=60)
    assert study.returncode == INTERRUPTED_BY_SIGINT
    assert errors.splitlines()[-1].endswith(f"resume with: zerotax study --resume {folder} --on slurm")
    _, points = read_folder(folder)
    assert points and {point["host"] for point in points} <= {"n1", "n2"}
    check_schema(json.loads((folder / "summary.json").read_text()), "summary")


def test_what_sbatch_refuses_leaves_no_folder(cluster, words, tmp_path):
    done = zerotax(*words, "--on", "slurm,--partition=nope", "--out", tmp_path / "out", **cluster.environment)
    line = last_line(done)
    assert done.returncode == 2 and line.startswith("zerotax: sbatch refused the job: ") and "nope" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("more", [
    ["run", "--allocator", "glibc", "--size", "40GiB", "--audit-only"],
    ["thresholds", "--allocator", "glibc", "--to", "40GiB"],
    ["history", *HOW, "--to", "40GiB", "--tags", "v*"]], ids=lambda words: words[0])
def test_a_job_that_no_node_has_the_memory_for_is_refused_when_it_is_submitted(cluster, project, more, tmp_path):
    done = zerotax(*more, *(["--repo", project] if more[0] == "history" else []), "--on", "slurm", "--out", tmp_path / "out",
                   **cluster.environment)
    line = last_line(done)
    assert done.returncode == 2 and line.startswith("zerotax: sbatch refused the job: ") and "emory" in line
    assert not list(tmp_path.iterdir())


def test_a_folder_that_a_node_does_not_see_is_reported_and_untouched(cluster, tmp_path):
    """The node runs in a separate mount namespace, with an empty folder in place of the test's folder."""
    with cluster.blind("n2", tmp_path):
        done = zerotax(*COMMANDS["run"], "--on", "slurm,--nodelist=n2", "--out", tmp_path / "out",
                       **cluster.environment)
    line = last_line(done)
    assert done.returncode == 2 and "does not see the folder" in line and "--out" in line
    assert not list(tmp_path.iterdir())


def test_without_slurm_it_is_refused(words, tmp_path):
    links = tmp_path / "bin"
    links.mkdir()
    for program in ("git", "gcc", "env", "sh"):
        (links / program).symlink_to(f"/usr/bin/{program}")
    done = zerotax(*words, "--on", "slurm", "--out", tmp_path / "out", PATH=str(links))
    assert done.returncode == 3
    assert last_line(done).startswith("zerotax: --on slurm needs Slurm, but sbatch is not installed here: ")
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_a_controller_that_does_not_answer_is_reported(tmp_path):
    (tmp_path / "slurm.conf").write_text("ClusterName=gone\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\n"
                                         "AuthType=auth/munge\nMessageTimeout=2\nTCPTimeout=1\n")
    done = zerotax(*COMMANDS["run"], "--on", "slurm", "--out", tmp_path / "out", SLURM_CONF=str(tmp_path / "slurm.conf"))
    assert done.returncode == 2 and "sbatch refused the job" in last_line(done)
    assert [path.name for path in tmp_path.iterdir()] == ["slurm.conf"]
