"""Runs the steps of docs/top.md. `top` finds a refill storm in namespaces, `record` explains the storm, and the setting
that `advise` recommends stops it.
"""
import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, SOURCE

pytestmark = pytest.mark.skipif(not (shutil.which("unshare") and shutil.which("curl")), reason="unshare or curl is missing")


def unprivileged_namespaces():
    return subprocess.run(["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true"],
                          capture_output=True, check=False).returncode == 0


def rates(text):
    """Returns the bytes per second that the kernel zeroed and refilled for the service."""
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    [row] = [line for line in text.splitlines() if line.endswith(" service")]
    return [float(number) * units[unit] for number, unit in re.findall(r"([\d.]+) ([KMG]?i?B)\b", row)][:2]


@pytest.mark.skipif(not unprivileged_namespaces(), reason="no namespaces")
def test_a_storm_is_found_explained_and_cured(tmp_path):
    subprocess.run([SOURCE / "docs" / "examples" / "production.sh", tmp_path, "2"], check=True, timeout=500,
                   env={**os.environ, "ZEROTAX_BUILD": str(BUILD)})
    text = {file.stem: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    zeroed, refilled = rates(text["top_before"])
    assert refilled > 0.9 * zeroed > 10 << 20
    # The first call site causes nearly all of the refills, and the setting prevents them.
    record = text["record"].partition("   by kernel")[2].splitlines()
    assert "draw_layer" in record[2] and float(re.search(r"([\d.]+) %", record[1])[1]) > 90
    assert f"Try:   {text['setting'].strip()}" in text["advise"]
    assert "MALLOC_TRIM_THRESHOLD_=" in text["setting"]
    # The setting keeps blocks of 1 MiB, so memory is zeroed only at the start of the service.
    assert rates(text["top_after"])[0] < zeroed / 100
