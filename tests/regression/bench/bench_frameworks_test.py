"""`zerotax bench` on a program of Catch2 whose dependence on the order is known."""
import json

import pytest
from conftest import BUILD, check_schema, zerotax
from refusing import refused

CATCH2 = BUILD / "tests" / "benched" / "catch2"
NOT_FOUND = "the timed loop was not found: the benchmark pauses its clock, has threads, or measures time itself"
pytestmark = pytest.mark.skipif(not CATCH2.exists(), reason="catch2 is not installed")


@pytest.fixture(scope="module", name="found")
def _found():
    done = zerotax("bench", "--json", "-", "--rounds", "9", "--", CATCH2, "concat,decode")
    document = json.loads(done.stdout)
    check_schema(document, "bench")
    return done, {each["name"]: each for each in document["benchmarks"]}, document


def skip_if_not_counted(benchmarks):
    """Skips the test if counts are missing, because on a busy machine loops cannot always be found by their length."""
    reasons = [each[order]["counts"]["na"] for each in benchmarks.values() for order in ("alone", "in_order")
               if "na" in each[order]["counts"]]
    if reasons:
        assert set(reasons) == {NOT_FOUND} and "unknown" in {each["verdict"] for each in benchmarks.values()}
        pytest.skip(NOT_FOUND)


def test_the_one_that_depends_on_the_order_is_named(found):
    done, benchmarks, document = found
    assert list(benchmarks) == ["concat/small", "decode/blocks"]
    skip_if_not_counted(benchmarks)
    decode = benchmarks["decode/blocks"]
    # The machine must be quiet for a difference of time to be proven.
    assert (decode["verdict"], done.returncode) in (("order-dependent", 1), ("counts differ", 0)), done.stderr
    assert decode["cause"]["before"] == "concat/small" and "catch2.cc:" in decode["cause"]["place"]
    # The program sets the threshold itself. The only variable with an effect is the one that keeps blocks below the
    # threshold.
    assert benchmarks["concat/small"]["verdict"] == "independent" and document["rounds"] >= 9


def test_counts_are_those_of_one_iteration(found):
    skip_if_not_counted(found[1])
    decode = found[1]["decode/blocks"]
    # In each iteration, eight blocks of 1 MiB are mapped and unmapped.
    assert 2048 <= decode["alone"]["counts"]["minor_faults"] <= 2064
    assert decode["alone"]["counts"]["returned_bytes"] == pytest.approx(8 * 2**20, rel=0.01)
    assert decode["alone"]["counts"]["calls"] == pytest.approx(8, abs=0.1)
    assert decode["in_order"]["counts"]["minor_faults"] < 110  # pages that the first of 20 iterations populates
    assert found[1]["concat/small"]["alone"]["counts"]["calls"] == pytest.approx(1, abs=0.01)


@pytest.mark.long("Catch2 measures its clock in each run; framework_test.cc has the names")
def test_names_of_any_letters_are_found_again():
    done = zerotax("bench", "--json", "-", "--rounds", "9", "--", CATCH2, "*clude:not,plain*", "--benchmark-samples", "2")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)["benchmarks"]
    assert [each["name"] for each in found] == ['exclude:not/a, "b"\t<int, 3>', 'plain, "or" so/add',
                                                'plain, "or" so/more/multiply']
    assert all(each["alone"]["times_ns"] and each["in_order"]["times_ns"] for each in found)


def test_a_program_without_benchmarks_is_refused():
    refused(zerotax("bench", "--", CATCH2, "no benchmark"), "'catch2' lists no benchmark")
