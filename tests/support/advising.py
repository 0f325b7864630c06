"""Programs and functions that the tests of `zerotax advise` share."""

import html
import json
import pathlib
import re
import subprocess
import tempfile

from conftest import BUILD, ZEROTAX, check_schema, clean_environment

PROGRAMS = BUILD / "tests" / "advised"


class Advised:
    """Output and files of one run of `zerotax advise`."""

    def __init__(self, done, document, markdown):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.json = document
        self.markdown = markdown
        self.advice = document["recommendation"]

    def remedy(self, name):
        [found] = [each for each in self.json["remedies"] if each["name"] == name]
        return found

    def why_not_tried(self, name):
        [found] = [each for each in self.json["not_tried"] if each["name"] == name]
        return found["why"]


def advise(*command, options=(), prefix=(), **environment):
    """Runs `prefix zerotax advise --full options -- command`, and checks its JSON against the schema."""
    with tempfile.TemporaryDirectory() as folder:
        if prefix:
            pathlib.Path(folder).chmod(0o777)
        document, markdown = pathlib.Path(folder, "advise.json"), pathlib.Path(folder, "advise.md")
        outputs = ["--json", str(document), "--markdown", str(markdown)]
        done = subprocess.run(
            [*prefix, str(ZEROTAX), "advise", "--full", *outputs, *map(str, options), "--", *map(str, command)],
            env=clean_environment(**environment), capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=300)
        assert document.exists(), done.stderr
        found = Advised(done, json.loads(document.read_text()), markdown.read_text())
    check_schema(found.json, "advise")
    check_text(found)
    return found


def check_text(found):
    """Checks that the table agrees with the document. Only lines to paste may be longer than 80 columns."""
    line = found.advice["line"]
    assert line is None or f"\n{line}\n" in found.out
    words = re.sub(r"\s+", " ", found.out)
    page = html.unescape(found.markdown.replace("<!-- -->", ""))
    for text in (found.advice["sentence"], found.advice["gains"], found.advice["costs"]):
        assert text in words or text in page
    for row in found.json["remedies"]:
        assert row["name"] in found.out and f"| {row['name']} |" in page
    for each in found.out.splitlines():
        assert len(each) <= 80 or each == line or any(len(word) > 60 for word in each.split()), each
