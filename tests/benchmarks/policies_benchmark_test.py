"""benchmark-policies writes what its schema says, and its figure can be drawn of it."""

import json
import subprocess
import sys

from conftest import BUILD, SOURCE

sys.path.insert(0, str(SOURCE / "plots"))
import validate  # noqa: E402


def test_a_smoke_run_fits_the_schema_and_can_be_drawn(tmp_path):
    file = tmp_path / "policies.json"
    done = subprocess.run([BUILD / "bin" / "benchmark-policies", "--smoke", "--json", file], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    validate.validator("policies").validate(document)
    untouched, touched = document["groups"][0]["cells"]
    assert (untouched["touch"], touched["touch"]) == (0, 0.1)
    contenders = touched["contenders"]
    assert {"glibc", "jemalloc", "adaptive", "unmap"} <= contenders.keys()
    # What explains the cell is no matter of time: 26 of 256 pages.
    assert contenders["unmap"]["faults"] == contenders["purge"]["faults"] == 26
    assert contenders["memset"]["faults"] == contenders["dirty"]["faults"] == 0
    assert contenders["memset"]["zeroed_bytes"] == contenders["libmalloc-116"]["zeroed_bytes"] == 1 << 20
    assert contenders["dirty"]["zeroed_bytes"] == 26 * 4096
    assert contenders["unmap"]["zeroed_bytes"] == contenders["purge"]["zeroed_bytes"] == 0
    assert all("na" not in its["ns"] if isinstance(its["ns"], dict) else its["ns"] > 0 for its in contenders.values())
    drawn = subprocess.run([sys.executable, SOURCE / "plots" / "policies.py", file, "--format", "svg"],
                           capture_output=True, text=True)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "policies.svg").stat().st_size > 10_000
