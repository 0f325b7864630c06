"""Runs the steps of action.yml like GitHub's runner: with the declared environment, with bash -e, and with files for
outputs and summary.
"""

import pathlib
import re
import subprocess

import yaml

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")


class Runner:
    """The output of the steps of one job. `given` contains the inputs. `uses` contains the outputs of actions that are
    not run, by step. `prefix` is a command that runs each step in another environment.
    """

    def __init__(self, action, work, given, event=None, uses=None, environment=None, prefix=(), seconds=300):
        self.action = yaml.safe_load(pathlib.Path(action).read_text(encoding="utf-8"))
        self.work, self.environment, self.prefix, self.seconds = work, environment or {}, prefix, seconds
        self.outputs = {step: {"outputs": values} for step, values in (uses or {}).items()}
        self.summary = work / "summary.md"
        self.temporary = work / "temporary"
        self.temporary.mkdir()
        self.summary.touch()
        event = event or {}
        self.folder = pathlib.Path(action).parent
        # In a job with a container, these folders belong to the host, so a step cannot access the folders.
        self.context = {
            "github": {
                "action_path": "/home/runner/work/_actions/zerotax", "token": "secret", "event": event, "repository": "me/mine",
                "event_name": "pull_request" if event else "push", "server_url": "https://github.com", "action_repository": ""},
            "runner": {"temp": "/home/runner/work/_temp", "arch": "X64"},
        }
        unknown = set(given) - set(self.action["inputs"])
        assert not unknown, unknown
        self.context["inputs"] = {
            name: given.get(name, self.filled(str(declared.get("default", ""))))
            for name, declared in self.action["inputs"].items()}
        self.log = ""

    def value(self, path):
        """Returns the value of an expression like steps.check.outputs.status, or "" if the value does not exist."""
        found = {**self.context, "steps": self.outputs}
        for part in path.strip().split("."):
            found = found.get(part, "") if isinstance(found, dict) else ""
        return found

    def filled(self, text):
        return EXPRESSION.sub(lambda match: str(self.value(match[1])), text)

    def holds(self, condition):
        """Whether a condition of action.yml holds. A condition is one or more comparisons with a word, joined by &&."""
        for part in filter(None, condition.split("&&")):
            name, operator, word = re.fullmatch(r"\s*([\w.-]+)\s*(==|!=)\s*'([^']*)'\s*", part).groups()
            if (str(self.value(name)) == word) != (operator == "=="):
                return False
        return True

    def run(self, *, keep=lambda step: True):
        """Runs the steps whose condition holds. Returns the exit status of the first step that fails, or 0."""
        ran = []
        for step in self.action["runs"]["steps"]:
            if not self.holds(step.get("if", "")) or "uses" in step or not keep(step):
                continue
            ran.append(step["name"])
            output = self.work / f"output-{len(ran)}"
            output.touch()
            environment = {
                **self.environment, **{name: self.filled(str(text)) for name, text in step.get("env", {}).items()},
                "GITHUB_ACTION_PATH": str(self.folder), "RUNNER_TEMP": str(self.temporary),
                "GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(self.summary)}
            script = self.work / "step.sh"
            script.write_text(step["run"], encoding="utf-8")
            done = subprocess.run(
                [*self.prefix, "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script], cwd=self.work, env=environment,
                check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=self.seconds)
            self.log += done.stdout
            if "id" in step:
                lines = output.read_text(encoding="utf-8").splitlines()
                self.outputs[step["id"]] = {"outputs": dict(line.split("=", 1) for line in lines)}
            if done.returncode != 0:
                return done.returncode, ran
        return 0, ran

    def output(self, name):
        return self.filled(self.action["outputs"][name]["value"])
