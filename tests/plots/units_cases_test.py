"""Times, bytes, counts, ratios and percentages have the same text in Python, in the page's JavaScript and in C++."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from zerotax_plots import units

ROOT = Path(__file__).resolve().parents[2]
TABLE = json.loads((ROOT / "tests" / "units_cases.json").read_text(encoding="utf-8"))
CASES = {**TABLE["rules"], **TABLE["of_plots"]}
# For each rule: its function in Python, and its function in JavaScript.
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
MORE = {"counted": ["point"]}  # arguments of a rule after the value


def test_every_rule_of_the_table_is_tested() -> None:
    assert set(CASES) == set(FUNCTIONS) and all(len(cases) >= 3 for cases in CASES.values())


@pytest.mark.parametrize("rule", CASES)
def test_python_writes_what_the_table_says(rule: str) -> None:
    write = getattr(units, FUNCTIONS[rule][0])
    assert [[value, write(value, *MORE.get(rule, []))] for value, _ in CASES[rule]] == CASES[rule]


@pytest.mark.skipif(shutil.which("node") is None, reason="install nodejs")
@pytest.mark.parametrize("rule", CASES)
def test_the_page_writes_what_the_table_says(rule: str) -> None:
    code = (ROOT / "plots" / "zerotax_plots" / "page" / "units.js").read_text(encoding="utf-8")
    ask = f"{code}\nconsole.log(JSON.stringify({json.dumps(CASES[rule])}.map(([v]) => [v, "
    ask += f"{FUNCTIONS[rule][1]}(v, ...{json.dumps(MORE.get(rule, []))})])));"
    told = subprocess.run(["node", "-"], input=ask, capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == CASES[rule]


@pytest.mark.skipif(shutil.which("node") is None, reason="install nodejs")
def test_many_more_values_are_written_alike_in_both_languages() -> None:
    """Tests seven values near each power of two and of ten. Many of these values are halves that could be rounded up or
    down.
    """
    values = [base ** power * step / 8 for base in (2, 10) for power in range(14) for step in (1, 3, 5, 8, 9, 12, 15)]
    code = (ROOT / "plots" / "zerotax_plots" / "page" / "units.js").read_text(encoding="utf-8")
    others = ("givenSizeText", "exactSizeText", "countText", "countedText")
    names = {js: python for python, js in FUNCTIONS.values() if js not in others}
    ask = (
        f"{code}\nconst found = {{}}; for (const f of [{', '.join(names)}]) "
        f"found[f.name] = {json.dumps(values)}.map(v => f(v)); console.log(JSON.stringify(found));"
    )
    told = json.loads(subprocess.run(["node", "-"], input=ask, capture_output=True, text=True, check=True).stdout)
    for js, python in names.items():
        assert list(zip(values, told[js])) == [(value, getattr(units, python)(value)) for value in values], js


def formatted_numbers(path: Path) -> list[str]:
    """Returns texts in which a file formats a number without the module units. A float that is rounded by formatting
    does not count.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    floats = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == "float"]
    rounded = {id(given) for each in floats for given in each.args}
    texts = [each for each in ast.walk(tree) if isinstance(each, ast.JoinedStr) and id(each) not in rounded]
    return [
        ast.unparse(part.value)
        for text in texts
        for part in text.values
        if isinstance(part, ast.FormattedValue) and part.format_spec
        and re.search(r"[,_%]|[eEfFgGn]\W*$", ast.unparse(part.format_spec))
    ]


def test_no_other_file_formats_a_number(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("""x = f"{a:.1f} s, {b:,}, {c:g}, {100 * d:.0f} %, {e:.0%}, {f:>8}, {g:02X}, {float(f'{h:.6g}')}" """)
    assert formatted_numbers(planted) == ["a", "b", "c", "100 * d", "e"]
    folders = [ROOT / "plots", ROOT / "docs" / "generate", ROOT / "docs" / "bill"]
    files = [path for folder in folders for path in folder.rglob("*.py") if path.name != "units.py"]
    found = {path.name: formatted_numbers(path) for path in files}
    assert len(files) > 50 and not {name: texts for name, texts in found.items() if texts}, "use zerotax_plots/units.py"
