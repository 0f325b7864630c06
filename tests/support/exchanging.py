"""Reads the formats for other programs with third-party parsers. All formats must contain the same verdict."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import jsonschema
import pytest

RULES = pathlib.Path(__file__).resolve().parents[1] / "foundation" / "exchange" / "junit.rng"
GITHUB_COMMENT = 65536
# Rules of https://bencher.dev/docs/reference/bencher-metric-format, and its limits on names.
BMF = {
    "type": "object",
    "propertyNames": {"minLength": 1, "maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
        },
    },
}


def read_junit(data):
    """Returns the result of every test case ("passed", "failure", …), by suite and name. Checks the schema and the
    counts first.
    """
    etree = pytest.importorskip("lxml.etree", reason="install python3-lxml, and use /usr/bin/python3")
    rules = etree.RelaxNG(etree.parse(str(RULES)))
    assert rules.validate(etree.fromstring(data)), rules.error_log
    cases = {}
    root = ET.fromstring(data)
    for suite in root:
        ends = []
        for case in suite.iter("testcase"):
            inner = [child for child in case if child.tag != "system-out"]
            ends.append(inner[0].tag if inner else "passed")
            place = (suite.get("name"), case.get("name"))
            assert place not in cases, f"{place} occurs twice"
            cases[place] = (ends[-1], inner[0].get("message") if inner else "")
        told = {"tests": len(ends), "failures": ends.count("failure"), "errors": ends.count("error"),
                "skipped": ends.count("skipped")}
        assert {name: int(suite.get(name)) for name in told} == told
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)
    return cases


def verdict_of_junit(data):
    """Returns the sentence that every suite contains."""
    told = {each.get("value") for each in ET.fromstring(data).iter("property") if each.get("name") == "verdict"}
    assert len(told) == 1, told
    return told.pop()


def read_bmf(text):
    found = json.loads(text)
    jsonschema.Draft7Validator(BMF).validate(found)
    for measures in found.values():
        for measure in measures.values():
            value = measure["value"]
            assert measure.get("lower_value", value) <= value <= measure.get("upper_value", value)
    return found


def read_commands(text):
    """Returns (command, properties, message) of each workflow command, as the runner of GitHub Actions parses a line.
    """
    found = []
    for line in text.splitlines():
        if not line.startswith("::"):
            continue
        head, mark, message = line[2:].partition("::")
        assert mark, line
        name, _, words = head.partition(" ")
        assert name in ("error", "warning", "notice"), line
        properties = {}
        for word in filter(None, words.split(",")):
            key, equals, value = word.partition("=")
            assert equals and re.fullmatch("file|line|title", key), line
            properties[key] = unescaped(value.replace("%3A", ":").replace("%2C", ","))
        found.append((name, properties, unescaped(message)))
    return found


def unescaped(text):
    assert not re.search("%(?!25|0D|0A)", text), text
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


class Page(html.parser.HTMLParser):
    """The tags of a page, the cells of its tables, and its text."""

    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.rows, self.words, self.links = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        assert not [name for name, _ in attrs if name.startswith("on")], attrs
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    @property
    def text(self):
        return "".join(self.words)


def read_markdown(text):
    """Returns the page that GitHub's own parser makes from the text."""
    assert len(text) < GITHUB_COMMENT and len(text.encode()) < GITHUB_COMMENT
    if shutil.which("cmark-gfm") is None:
        pytest.skip("install cmark-gfm")
    words = ["cmark-gfm", "--unsafe", *[word for name in ("table", "strikethrough", "autolink") for word in ("-e", name)]]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    page = Page(done.stdout)
    tables = {"table", "thead", "tbody", "tr", "td", "th"}
    known = tables | {"h3", "h4", "p", "strong", "details", "summary", "pre", "code", "ul", "li"}
    assert set(page.tags) <= known, set(page.tags) - known
    return page
