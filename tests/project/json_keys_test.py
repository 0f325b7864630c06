"""Results are structs that list their fields. All other JSON keys of a folder are in document.cc, and in at most one
more file. The second file reads a foreign format, or contains a result that is too small for a document.cc.
"""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
READ = re.compile(r'\.at\("|[\w)\]]\["[a-z]|\.(?:contains|value)\("')


def readers():
    """Returns the files with JSON keys, by folder. document.cc, and the rooms base, point and probe, are left out."""
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
