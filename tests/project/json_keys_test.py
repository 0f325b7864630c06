"""A room's results are structs: only its document.cc knows a key of JSON."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
READ = re.compile(r'\.at\("|[\w)\]]\["[a-z]|\.(?:contains|value)\("')


def readers():
    """The parts of the harness, but for point and what lies below it, whose files other than document.cc have keys."""
    sources = [path for path in (SOURCE / "harness").rglob("*") if path.suffix in (".c", ".cc", ".h")]
    return {path.relative_to(SOURCE / "harness").parts[1] for path in sources
            if not path.name.endswith("document.cc") and READ.search(path.read_text())} - {"base", "point", "probe"}


def test_only_documents_know_keys():
    assert readers() == set()
