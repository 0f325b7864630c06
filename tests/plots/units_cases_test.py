"""Times, bytes, counts, ratios and percentages are written alike in Python, in the page's JavaScript and in C++."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from zerotax_plots import units

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "tests" / "units_cases.json").read_text(encoding="utf-8"))
CASES = {**TABLE["rules"], **TABLE["of_plots"]}
# Rule: its function in Python, and in JavaScript.
FUNCTIONS = {
    "time": ("time_text", "timeText"),
    "size": ("size_text", "sizeText"),
    "count": ("count_text", "countText"),
    "counted": ("counted_text", "countedText"),
    "ratio": ("ratio_text", "ratioText"),
    "number": ("number_text", "numberText"),
    "percent": ("percent_text", "percentText"),
    "whole_percent": ("whole_percent_text", "wholePercentText"),
    "mean_count": ("count_text", "countText"),
    "exact_size": ("exact_size_text", "exactSizeText"),
    "rate": ("rate_text", "rateText"),
    "plain": ("plain_text", "plainText"),
    "given_size": ("given_size_text", "givenSizeText"),
    "tick_time": ("tick_time_text", "tickTimeText"),
    "tick_size": ("tick_size_text", "tickSizeText"),
}
MORE = {"counted": ["point"]}  # what a rule is given besides the value


def test_every_rule_of_the_table_is_tested() -> None:
    assert set(CASES) == set(FUNCTIONS) and all(len(cases) >= 3 for cases in CASES.values())


@pytest.mark.parametrize("rule", CASES)
def test_python_writes_what_the_table_says(rule: str) -> None:
    write = getattr(units, FUNCTIONS[rule][0])
    assert [[value, write(value, *MORE.get(rule, []))] for value, _ in CASES[rule]] == CASES[rule]


@pytest.mark.skipif(shutil.which("node") is None, reason="install nodejs")
@pytest.mark.parametrize("rule", CASES)
def test_the_page_writes_what_the_table_says(rule: str) -> None:
    code = (ROOT / "plots" / "page" / "units.js").read_text(encoding="utf-8")
    ask = f"{code}\nconsole.log(JSON.stringify({json.dumps(CASES[rule])}.map(([v]) => [v, "
    ask += f"{FUNCTIONS[rule][1]}(v, ...{json.dumps(MORE.get(rule, []))})])));"
    told = subprocess.run(["node", "-"], input=ask, capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == CASES[rule]


@pytest.mark.skipif(shutil.which("node") is None, reason="install nodejs")
def test_many_more_values_are_written_alike_in_both_languages() -> None:
    """Seven values of each power of two and of ten, many of them halves that one could round either way."""
    values = [base ** power * step / 8 for base in (2, 10) for power in range(14) for step in (1, 3, 5, 8, 9, 12, 15)]
    code = (ROOT / "plots" / "page" / "units.js").read_text(encoding="utf-8")
    others = ("givenSizeText", "exactSizeText", "countText", "countedText")
    names = {js: python for python, js in FUNCTIONS.values() if js not in others}
    ask = (
        f"{code}\nconst found = {{}}; for (const f of [{', '.join(names)}]) "
        f"found[f.name] = {json.dumps(values)}.map(v => f(v)); console.log(JSON.stringify(found));"
    )
    told = json.loads(subprocess.run(["node", "-"], input=ask, capture_output=True, text=True, check=True).stdout)
    for js, python in names.items():
        assert list(zip(values, told[js])) == [(value, getattr(units, python)(value)) for value in values], js
