"""Twenty steady programs of Google Benchmark: `zerotax bench` reports no dependence for any of them."""
import json

import pytest
from conftest import BUILD, SOURCE, zerotax

TWENTY = sorted((BUILD / "tests" / "benched").glob("twenty-*"))


def test_there_are_twenty():
    assert len(TWENTY) == 20, f"build them: {SOURCE / 'tests' / 'benched'}"


@pytest.mark.parametrize("program", TWENTY, ids=lambda path: path.name)
def test_a_steady_program_is_not_accused(program):
    done = zerotax("bench", "--json", "-", "--rounds", "9", "--", program, "--benchmark_min_time=0.02")
    document = json.loads(done.stdout)
    assert done.returncode == 0, document["sentence"]
    # All benchmarks must have counts, because a benchmark whose loop was not found has no verdict.
    assert [each["verdict"] for each in document["benchmarks"]] == ["independent"] * 3, [
        (each["name"], each["verdict"], each["sentence"]) for each in document["benchmarks"]]
