"""cmake/prose.py finds sentences that open with a clause or an unknown noun, and leaves good English alone."""

import subprocess

import pytest

from conftest import SOURCE


def phrases(tmp_path, name, text):
    """Returns the phrases that the check finds in a file of this name and text."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(["/usr/bin/python3", SOURCE / "cmake" / "prose.py", name], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    assert done.returncode == (1 if done.stdout else 0)
    return [line.split("'")[1].strip(" .") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("comment, phrase", [
    ("Whom it leaves out.", "Whom"),
    ("What stands for n/a, and for 0.", "What"),
    ("Returns the name. Whose code it is decides.", "Whose"),
    ("Those that purge without being asked.", "Those"),
    ("It is empty if nothing was counted.", "It"),
    ("The same with one call examined.", "The same"),
    ("Of a kind, in its order.", "Of a k"),
    ("The result, held against the baseline.", "held against"),
])
def test_an_opening_without_its_noun_is_found(tmp_path, comment, phrase):
    assert phrases(tmp_path, "a.h", f"/// {comment}\nint a;\n") == [phrase]
    assert phrases(tmp_path, "a.py", f'def a():\n    """{comment}"""\n') == [phrase]
    assert phrases(tmp_path, "a.cmake", f"# {comment}\nset(a 1)\n") == [phrase]


@pytest.mark.parametrize("comment", [
    "Returns the page. It is empty if nothing was counted.",
    "What do my forks cost?",
    "The same path means the inner or the outer program.",
    "Bytes of stack copied per sample.",
    "Such a process has memory that its user may not read.",
    "Whether the page was written.",
])
def test_good_english_is_left_alone(tmp_path, comment):
    assert not phrases(tmp_path, "a.h", f"/// {comment}\nint a;\n")


def test_messages_are_sentences_or_headings(tmp_path):
    source = 'const char* a = "{}";\n'
    assert phrases(tmp_path, "harness/a.cc", source.format("What calloc does is unknown.")) == ["What"]
    assert not phrases(tmp_path, "harness/a.cc", source.format("What calloc does, by size"))
    assert not phrases(tmp_path, "harness/a.cc", source.format("It stands within a sentence."))
    assert not phrases(tmp_path, "elsewhere/a.cc", source.format("What calloc does is unknown."))
