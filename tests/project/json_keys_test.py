"""A room's results are structs: only its document.cc knows a key of JSON. The rooms that are not converted yet are named."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
READ = re.compile(r'\.at\("|\["[a-z]|\.(?:contains|value)\("')
# Taken off this list as each is converted; none is added.
JSON_WITHIN = {"trace"}


def readers():
    """The parts of the harness, but for point and what lies below it, whose files other than document.cc have keys."""
    return {path.relative_to(SOURCE / "harness").parts[0]
            for path in (SOURCE / "harness").rglob("*.[hc]*")
            if not path.name.endswith("document.cc") and READ.search(path.read_text())} - {"base", "point", "probe"}


def test_only_documents_know_keys():
    assert readers() - JSON_WITHIN == set()


def test_who_is_converted_is_off_the_list():
    assert JSON_WITHIN - readers() == set()
