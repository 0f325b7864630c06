"""The steps of action.yml, run against planted libraries in the way GitHub's runner runs them."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import BUILD, PLANTED, SOURCE, ZEROTAX, clean_environment, zerotax
from exchanging import read_bmf, read_commands, read_junit

yaml = pytest.importorskip("yaml", reason="install python3-yaml, and use /usr/bin/python3")
from action_steps import Runner  # noqa: E402
from planted_github import planted_github  # noqa: E402

ACTION = SOURCE / "action.yml"
HAS_PAGE = pathlib.Path("/usr/share/nodejs/d3-zoom").exists() and subprocess.run(
    ["/usr/bin/python3", "-c", "import jinja2"], capture_output=True, check=False).returncode == 0
PULL = {"pull_request": {"number": 7}}
GOOD, BAD = PLANTED / "libplanted_never.so", PLANTED / "libplanted_memset.so"
FEW = "--size 1MiB"
# Sources: github.com/actions/runner/issues/716, 2058 and 2185
HOST_FOLDERS = ("github.action_path", "github.workspace", "runner.temp", "runner.tool_cache")


@pytest.fixture(scope="module")
def baseline(tmp_path_factory):
    file = tmp_path_factory.mktemp("baseline") / "mine.json"
    done = zerotax("bless", "--allocator", f"mine={GOOD}", "--baseline", file, "--size", "1MiB")
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(name="github")
def github_here():
    with planted_github() as comments:
        yield comments


def runner(work, library, baseline, event=None, github=None, **given):
    """Returns a job on a machine whose PATH has no gh, curl or git, as on debian:12."""
    inputs = {"library": str(library), "baseline": str(baseline), "options": FEW, "zerotax": str(ZEROTAX), **given}
    tools = work / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in pathlib.Path(folder).glob("*"):
            if program.name not in ("gh", "curl", "git") and not (tools / program.name).is_symlink():
                (tools / program.name).symlink_to(program)
    environment = clean_environment(PATH=str(tools), GITHUB_API_URL=github.address if github else "http://127.0.0.1:9")
    return Runner(ACTION, work, inputs, event, environment=environment)


def test_no_expression_stands_in_a_script():
    action = yaml.safe_load(ACTION.read_text())
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), step["name"]
        assert ("run" in step) != ("uses" in step)
        assert "uses" in step or step["shell"] == "bash"
        for expression in re.findall(r"\$\{\{(.*?)\}\}", json.dumps(step)):
            assert re.fullmatch(r" (inputs|steps|github|runner)\.[\w.-]+ ", expression), expression
            assert expression.strip() not in HOST_FOLDERS, f"not the container's: {expression}"
            if expression.startswith(" inputs."):
                assert expression.strip().split(".")[1] in action["inputs"], expression


@pytest.mark.long("a build more")
def test_a_good_library_passes_with_every_report(tmp_path, baseline):
    job = runner(tmp_path, GOOD, baseline)
    assert job.run() == (0, ["Check the library or program", "Exit with the status of the check"]), job.log
    assert job.output("status") == "0"
    reports = pathlib.Path(job.output("reports"))
    assert {"check.json", "check.xml", "check.md", "check.bmf.json"} <= {path.name for path in reports.iterdir()}
    assert read_bmf((reports / "check.bmf.json").read_text())
    assert {end for end, _ in read_junit((reports / "check.xml").read_bytes()).values()} == {"passed"}
    assert job.summary.read_text() == (reports / "check.md").read_text()
    assert "::error" not in job.log


def test_a_regression_fails_after_everything_is_reported(tmp_path, baseline, github):
    job = runner(tmp_path, BAD, baseline, PULL, github, comment="true")
    status, ran = job.run()
    assert (status, ran[-2:]) == (1, ["Comment on the pull request", "Exit with the status of the check"]), job.log
    document = json.loads((pathlib.Path(job.output("reports")) / "check.json").read_text())
    sentence = read_commands(job.log)[0][2]
    assert sentence == document["sentence"] and document["verdict"] in ("worse", "mixed")
    assert any(name == "error" for name, _, _ in read_commands(job.log))
    assert github.asked == ["GET /repos/me/mine/issues/7/comments", "POST /repos/me/mine/issues/7/comments"]
    [body] = github.bodies.values()
    assert body.startswith(f"<!-- zerotax check mine -->\n### zerotax check: {document['verdict']}\n") and len(body) < 65536


def test_a_command_is_checked_in_place_of_a_library(tmp_path, github):
    program = BUILD / "tests" / "recorded" / "regressed"
    file = tmp_path / "programs.json"
    done = zerotax("bless", "--baseline", file, "--name", "small", "--", program, "calloc")
    assert done.returncode == 0, done.stderr
    cases = (("good", "", 0, "same"), ("strict", "--strict", 0, "same"), ("other", "", 2, "another command"))
    for work, options, status, word in cases:
        (tmp_path / work).mkdir()
        github.bodies.clear()
        command = f"{program} {'thread' if work == 'other' else 'calloc'}"
        job = runner(tmp_path / work, "", file, PULL, github, command=command, name="small", options=options, comment="true")
        assert job.run()[0] == status, job.log
        assert word in job.log
        begin = "<!-- zerotax check small -->\n### zerotax check: same\n"
        assert [body.startswith(begin) for body in github.bodies.values()] == ([True] if status == 0 else [])
        page = pathlib.Path(job.output("reports")) / "check.html"
        assert page.exists() == (status == 0 and HAS_PAGE), "what action.yml promises"


@pytest.mark.parametrize(("name", "given"), [
    ("options", {"options": "--size 1MiB\n--strict\n--nonsense-option\n"}),
    ("joined", {"options": "--size \\\n  1MiB\n\t--nonsense-option"}),
    ("ends", {"options": "--size 1MiB\r\n--nonsense-option\r\n"})])
def test_each_line_of_the_options_counts(tmp_path, baseline, name, given):
    del name
    job = runner(tmp_path, GOOD, baseline, **given)
    assert job.run()[0] == 2 and "--nonsense-option" in job.log, job.log


def test_each_line_of_a_command_counts(tmp_path):
    program = BUILD / "tests" / "recorded" / "regressed"
    file = tmp_path / "programs.json"
    done = zerotax("bless", "--baseline", file, "--name", "small", "--", program, "calloc")
    assert done.returncode == 0, done.stderr
    for number, (command, status) in enumerate([
            (f"{program} \\\n  calloc\n", 0), (f"{program}\ncalloc", 0), (f"{program}\nthread", 2), ("\n \t\n", 2)]):
        work = tmp_path / str(number)
        work.mkdir()
        job = runner(work, "", file, command=command, name="small", options="")
        assert job.run()[0] == status, job.log


@pytest.mark.parametrize("name", ["mine\nstatus=0", "mine\r\nstatus=0", "mine\nreports=/tmp\nname=x"])
def test_a_name_of_several_lines_adds_no_outputs(tmp_path, baseline, name):
    job = runner(tmp_path, GOOD, baseline, name=name)
    assert job.run(keep=lambda step: step.get("id") == "check")[0] == 0
    assert job.output("status") == "2" and job.output("reports").endswith("zerotax-reports"), job.log
    assert "\n" not in job.outputs["check"]["outputs"]["name"]


@pytest.mark.parametrize("given", [{"library": "", "command": ""}, {"library": str(GOOD), "command": "true"}])
def test_a_library_or_a_command_must_be_given(tmp_path, baseline, given):
    job = runner(tmp_path, given["library"], baseline, command=given["command"])
    assert job.run()[0] == 2 and read_commands(job.log)[-1][2], job.log


def commented(work, github, name="mine"):
    """Returns the output of comment.sh for a check.md."""
    reports = work / "reports"
    reports.mkdir(exist_ok=True)
    (reports / "check.md").write_text("### zerotax check: same\nnew ✓\n", encoding="utf-8")
    done = subprocess.run(
        ["bash", SOURCE / ".github/action/comment.sh"], capture_output=True, text=True, check=False, env=clean_environment(
            NAME=name, REPORTS=str(reports), PULL_REQUEST="7", GH_REPO="me/mine", GH_TOKEN="secret", GITHUB_API_URL=github))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_comment_is_replaced_on_whatever_page_it_is(tmp_path, github):
    for body in ("a person's", "<!-- zerotax check mine-2 -->\n", "\n", "<!-- zerotax check mine -->\nold"):
        number = github.add(body)
    assert commented(tmp_path, github.address) == ""
    assert github.bodies[number] == "<!-- zerotax check mine -->\n### zerotax check: same\nnew ✓\n" and len(github.bodies) == 4
    assert github.asked[-1] == f"PATCH /repos/me/mine/issues/comments/{number}"
    assert commented(tmp_path, github.address, "a b\n-->") == ""
    assert list(github.bodies.values())[-1].startswith("<!-- zerotax check a-b---- -->\n") and len(github.bodies) == 5


@pytest.mark.parametrize(("status", "words"), [(403, "pull-requests: write"), (500, "answered 500"), (None, "cannot be reached")])
def test_a_comment_that_cannot_be_written_is_a_warning(tmp_path, github, status, words):
    github.refuses = status
    said = commented(tmp_path, github.address if status else "http://127.0.0.1:9")
    assert said.startswith("::warning title=zerotax check::no comment: ") and words in said and said.count("\n") == 1
    assert not github.bodies


@pytest.mark.parametrize(("given", "word"), [
    ({"baseline": "no/such.json"}, "no/such.json"), ({"library": "no/lib.so"}, "no/lib.so"), ({"options": "--bogus"}, "--bogus"),
    ({"name": "$(touch hacked)"}, "touch"), ({"options": "--size $(touch${IFS}hacked) `touch hacked`"}, "touch")])
def test_unusable_input_fails_with_its_reason_and_runs_nothing(tmp_path, baseline, given, word):
    job = runner(tmp_path, **{"library": GOOD, "baseline": baseline, **given})
    assert job.run()[0] == 2, job.log
    assert word in read_commands(job.log)[-1][2] and word in job.summary.read_text()
    assert not (tmp_path / "hacked").exists() and job.output("status") == "2"


def test_the_source_is_named_by_its_content_or_its_commit(tmp_path):
    def source(**given):
        output = tmp_path / "output"
        output.unlink(missing_ok=True)
        environment = {"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(tmp_path), **given}
        done = subprocess.run(["bash", "-e", SOURCE / ".github/action/source.sh"], env=environment, capture_output=True,
                              text=True, check=False)
        return done, dict(line.split("=", 1) for line in output.read_text().splitlines()) if output.exists() else {}

    copy = tmp_path / "copy"
    (copy / "build").mkdir(parents=True)
    (copy / "a b").write_text("1")
    first = source(GITHUB_ACTION_PATH=str(copy))[1]
    (copy / "build" / "x").write_text("what was built is not looked at")
    assert source(GITHUB_ACTION_PATH=str(copy))[1] == first and re.fullmatch("[0-9a-f]{40}", first["commit"])
    (copy / "build-arm64").mkdir()
    (copy / "build-arm64" / "x").write_text("nor what was built otherwise")
    assert source(GITHUB_ACTION_PATH=str(copy))[1] == first
    (copy / "a b").write_text("2")
    known = {first["commit"], source(GITHUB_ACTION_PATH=str(copy))[1]["commit"]}
    # Source files and folders may have the same names as build folders.
    for name in ("harness/builder.cc", "build.sh", ".github/action/build.sh", "tests/build/x", "harness/build-id/y"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        for text in ("1", "2"):
            (copy / name).write_text(text)
            known.add(source(GITHUB_ACTION_PATH=str(copy))[1]["commit"])
    assert len(known) == 2 + 2 * 5

    git = ["git", "-C", copy, "-c", "user.name=x", "-c", "user.email=x@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1"]):
        subprocess.run([*git, *words], check=True)
    tagged = source(GITHUB_ACTION_PATH=str(copy), REF="v1", REPOSITORY=str(copy))[1]
    assert tagged["source"] == str(tmp_path / "zerotax-source") and (tmp_path / "zerotax-source" / "a b").exists()
    done, _ = source(GITHUB_ACTION_PATH=str(copy), REF="--no-such", REPOSITORY=str(copy))
    assert done.returncode == 2 and "::error title=zerotax::cannot check out" in done.stdout


def test_a_release_is_downloaded_and_all_else_is_built(tmp_path):
    def download(tag):
        output = tmp_path / "output"
        output.write_text("")
        words = ["bash", SOURCE / ".github" / "action" / "download.sh", f"file://{tmp_path}/releases", tag, tmp_path / tag]
        environment = {"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(output)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        found = output.read_text() == "found=true\n"
        assert found == (tmp_path / tag / "tree" / "bin" / "zerotax").exists()
        return found, done.stdout

    def release(tag, script):
        name = f"zerotax-{tag[1:]}-linux-{os.uname().machine}"
        command = tmp_path / name / "bin" / "zerotax"
        command.parent.mkdir(parents=True)
        command.write_text(script)
        command.chmod(0o755)
        folder = tmp_path / "releases" / tag
        folder.mkdir(parents=True)
        archive = folder / f"{name}.tar.xz"
        if script:
            subprocess.run(["tar", "-C", tmp_path, "-cJf", archive, name], check=True)
        else:
            archive.write_text("no archive")
        sums = f"sha256sum *.tar.xz >SHA256SUMS; echo {'0' * 64}  zerotax.whl >>SHA256SUMS"
        subprocess.run(sums, shell=True, cwd=folder, check=True)
        return archive

    release("v1.0", "#!/bin/sh\necho zerotax 1.0\n")
    assert download("v1.0") == (True, "zerotax 1.0\n")
    for tag, script in (("v1.1", "#!/bin/sh\nexit 1\n"), ("v1.3", "")):
        release(tag, script)
        assert download(tag) == (False, f"the archive of zerotax {tag} does not run here: building it\n")
    with release("v1.2", "#!/bin/sh\necho zerotax 1.2\n").open("ab") as archive:
        archive.write(b"more")
    found, said = download("v1.2")
    assert not found and "::warning title=zerotax::zerotax-1.2-linux-" in said
    assert not download("v2.0")[0] and download("main") == (False, "")


def test_the_containerfile_and_the_action_build_the_same_package():
    text = (SOURCE / "Containerfile").read_text()
    assert "/src/.github/action/build.sh /src /package" in text and "/package/zerotax.deb" in text
    for script in ("build.sh", "install.sh", "packages.sh"):
        assert subprocess.run(["bash", "-n", SOURCE / ".github" / "action" / script], check=False).returncode == 0
    assert BUILD.exists()
