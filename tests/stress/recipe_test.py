"""Runs each step of the recipe for GitHub in docs/check.md, in a copy of the recipe's image. The test has the
requirements of package_test.py. The image of debian:12 is debootstrap's variant minbase, without certificates, curl,
git, gh or Python. The actions of GitHub are not run. The checkout is a copy. The cache has the package of this build,
as in every job except the first, whose steps fresh_clone_test.py runs.
"""

import os
import pathlib
import shutil
import subprocess

import pytest
import yaml
from action_steps import Runner
from bare_debian import bare
from package_test import BUILD, SOURCE, pytestmark  # noqa: F401
from planted_github import planted_github

PULL = {"pull_request": {"number": 7}}
# The job's folder has the same path inside and outside the image, so that both sides can read the files in the folder.
ENTER = """
set -eu
mount -t tmpfs tmpfs "$LAYER"
mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
root=$LAYER/root
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$LAYER/upper,workdir=$LAYER/work" "$root"
for each in proc sys dev; do mount --rbind "/$each" "$root/$each"; done
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mkdir -p "$root$JOB"
mount --bind "$JOB" "$root$JOB"
echo ready
read -r end
"""
LIBRARY = """cmake_minimum_required(VERSION 3.18)
project(mine C CXX)
set(CMAKE_CXX_STANDARD 20)
add_library(mine SHARED core.cc planted_{}.cc)
add_executable(decoder decoder.cc)
"""
DECODER = """#include <cstdlib>
int main() { return std::calloc(1, 1 << 20) == nullptr; }
"""


def recipe():
    """Returns the job in docs/check.md, and the commands and inputs of its steps."""
    page = (SOURCE / "docs" / "check.md").read_text(encoding="utf-8")
    job = yaml.safe_load(page.split("## On GitHub")[1].split("```yaml\n")[1].split("```")[0])["jobs"]["zerotax"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    inputs, = (step["with"] for step in job["steps"] if step.get("uses", "").startswith("OWNER/zerotax@"))
    return job, commands, inputs


def checkout(work, policy):
    """Makes a project with a library that replaces malloc."""
    work.mkdir(exist_ok=True)
    for name in ("core.h", "core.cc", f"planted_{policy}.cc"):
        shutil.copy(SOURCE / "tests" / "planted" / name, work)
    shutil.copy(SOURCE / "tests" / "support" / "instructions.h", work)
    (work / "CMakeLists.txt").write_text(LIBRARY.format(policy))
    (work / "decoder.cc").write_text(DECODER)


@pytest.fixture(name="inside")
def inside_image(tmp_path):
    """Returns the words to put before a command so that it runs in the image."""
    assert recipe()[0]["container"] == "debian:12"
    layer = tmp_path / "layer"
    layer.mkdir()
    holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, env={
                                  **os.environ, "BASE": str(bare("bookworm")), "LAYER": str(layer), "JOB": str(tmp_path)})
    assert holder.stdout.readline() == "ready\n"
    yield ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "chroot", str(layer / "root"), "/bin/sh", "-c",
           'cd "$WORKING" && exec "$@"', "sh"]
    holder.stdin.close()
    holder.wait(timeout=60)


@pytest.mark.timeout(1800)
def test_each_step_of_the_recipe_works_in_its_image(tmp_path, inside):
    _, commands, inputs = recipe()
    work, action = tmp_path / "mine", tmp_path / "_actions" / "zerotax"
    action.mkdir(parents=True)
    shutil.copy(SOURCE / "action.yml", action)
    shutil.copytree(SOURCE / ".github" / "action", action / ".github" / "action")
    checkout(work, "never")
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "WORKING": str(work)}

    def run(command):
        done = subprocess.run([*inside, "bash", "-e", "-c", command], env=environment, cwd=work, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    assert run("for each in gh curl git python3 cmake; do command -v $each || true; done") == ""
    for command in commands:
        run(command)
    subprocess.run([BUILD / "bin" / "zerotax", "bless", "--allocator", f"mine={work / inputs['library']}", "--size", "1MiB",
                    "--baseline", work / inputs["baseline"]], check=True, capture_output=True)

    made = subprocess.run(["cpack", "-G", "DEB", "-B", tmp_path / "deb"], cwd=BUILD, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr

    def job(number, github, **given):
        # The runner's folder stays the same from step to step.
        place = tmp_path / str(number)
        place.mkdir()
        runner = Runner(action / "action.yml", place, {**inputs, **given}, PULL, {"cache": {"cache-hit": "true"}},
                        {**environment, "GITHUB_API_URL": github.address}, inside, 900)
        package = runner.temporary / "zerotax-package"
        package.mkdir()
        shutil.copy(next((tmp_path / "deb").glob("zerotax_*.deb")), package / "zerotax.deb")
        status, ran = runner.run()
        assert ran == ["Find the source of zerotax", "Install zerotax", "Check the library or program",
                       "Comment on the pull request", "Exit with the status of the check"][:len(ran)], runner.log[-3000:]
        reports = {path.name for path in pathlib.Path(runner.output("reports")).iterdir()}
        assert {"check.json", "check.xml", "check.md", "check.bmf.json", "check.html"} <= reports, runner.log[-3000:]
        return status, runner

    with planted_github() as github:
        status, first = job(1, github)
        assert status == 0 and "no comment" not in first.log, first.log[-3000:]
        assert [body.split("\n")[1] for body in github.bodies.values()] == ["### zerotax check: same"]
        # The pull request adds a memset to calloc.
        checkout(work, "zeroes_fresh")
        for command in commands:
            run(command)
        status, second = job(2, github)
        assert status == 1 and "::error" in second.log, second.log[-3000:]
        assert [body.split("\n")[1] for body in github.bodies.values()] == ["### zerotax check: worse"]
        # This step checks a program, not the library.
        run("zerotax bless --baseline programs.json -- build/decoder")
        status, third = job(3, github, library="", command="build/decoder", baseline="programs.json")
        assert status == 0 and len(github.bodies) == 2, third.log[-3000:]
