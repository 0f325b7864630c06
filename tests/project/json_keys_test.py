"""Results are structs with a table of fields. Keys that no table has stand in document.cc, and in one more file of a
folder at most: one that reads another format, or a result too small for a document.cc."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
READ = re.compile(r'\.at\("|[\w)\]]\["[a-z]|\.(?:contains|value)\("')


def readers():
    """Files of each folder, but for point and what lies below it, that have keys of JSON and are no document.cc."""
    found = {}
    for path in sorted((SOURCE / "harness").rglob("*")):
        room = path.relative_to(SOURCE / "harness").parts[1:2]
        if (path.suffix in (".c", ".cc", ".h") and not path.name.endswith("document.cc")
                and room[0] not in ("base", "point", "probe") and READ.search(path.read_text())):
            found.setdefault(path.parent, []).append(path.name)
    return found


def test_keys_of_json_stand_in_one_more_file_of_a_folder_at_most():
    found = readers()
    assert found
    for folder, names in found.items():
        assert len(names) == 1, f"{folder.relative_to(SOURCE)}: {', '.join(names)}"
