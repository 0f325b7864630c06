"""Python escapes the same characters as C++. Figures and pages escape the documents that they read."""

import json

import pytest
from nasty_names import NASTY, escaped, is_hidden
from zerotax_plots.files import ResultsError, parse_json, printable


def test_every_character_is_visible_or_escaped():
    for number in range(0x110000):
        character = chr(number)
        text = printable(character)
        if character in "\n\t":
            assert text == character
        elif is_hidden(character):
            assert text == escaped(character), hex(number)
        else:
            assert text == character or text == escaped(character), hex(number)


@pytest.mark.parametrize("name", NASTY.values())
def test_a_document_of_others_is_read_as_visible_text(name):
    text = name.decode("utf-8", "replace")
    value = parse_json(json.dumps({text: [text, {"a": text}]}))
    for each in (*value, value[printable(text)][0], value[printable(text)][1]["a"]):
        assert each == printable(text) and not [c for c in each if c not in "\n\t" and is_hidden(c)]


def test_an_error_is_one_line():
    assert str(ResultsError("a\nb\x1b[m\udcff")) == "a\\nb\\x1b[m\\xff"
