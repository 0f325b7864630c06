"""Tests `zerotax advise` on programs that mislead the command. It must not recommend a remedy without effect or invent
a reason, and must report every gain.
"""

import pytest
from advising import PROGRAMS, advise
from conftest import zerotax

AWKWARD = PROGRAMS / "awkward"
FEW = ["--settings-only", "--rounds", "10"]


def test_a_program_that_clears_its_environment_has_no_remedy_and_no_share_is_made_up():
    found = advise(AWKWARD, "clears", options=FEW)
    assert (found.advice["kind"], found.advice["line"]) == ("nothing_helps", None), found.out
    # The recording lacks the program's work after its exec, so it cannot prove that a cause takes little time.
    assert not any("takes under 1 %" in each["why"] for each in found.json["not_tried"]), found.out


def test_a_program_that_does_less_under_a_remedy_is_noticed():
    found = advise(AWKWARD, "looks", options=FEW)
    if found.advice["kind"] == "remedy" and "MALLOC_TRIM_THRESHOLD_" in found.advice["line"]:
        assert found.advice["costs"].startswith("The recorded runs did not do the same work: 480 calls"), found.out


def test_a_program_that_waits_for_its_input_is_measured_as_it_is_given(tmp_path):
    found = advise(AWKWARD, "reads", options=FEW)
    assert found.advice["kind"] != "remedy" or found.json["recording"]["refilled_bytes"] < 32 << 20
    data = tmp_path / "input"
    data.write_text("x")
    found = advise(AWKWARD, "reads", options=[*FEW, "--input", data])
    assert found.advice["kind"] == "remedy" and found.json["recording"]["refilled_bytes"] > 400 << 20
    assert "did not do the same work" not in found.advice["costs"]


@pytest.mark.parametrize(("way", "words"), [("killed", "was killed by SIGTERM"), ("prints", "--ignore-output")])
def test_what_cannot_be_compared_is_refused(way, words):
    done = zerotax("advise", *FEW, "--", AWKWARD, way)
    assert done.returncode == 2 and words in done.stderr.splitlines()[-1], done.stderr


def test_page_faults_that_zero_nothing_are_something_to_gain():
    found = advise(AWKWARD, "files", options=FEW)
    # Pages of a file that madvise drops and the program reads again cause faults without a known cause.
    assert "too many page faults" in found.json["recording"]["kernel_zeroed_bytes"]["na"]
    assert found.advice["sentence"] == "Nothing was tried: no remedy is known for what the program does.", found.out
