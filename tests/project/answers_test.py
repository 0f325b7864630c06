"""results/answers.md shows each command's default output beside that of --full. The outputs from committed documents are
those of the present version, and each default output fits one screen.
"""

import os
import re
import subprocess

from answers import check_screen
from conftest import BUILD, SOURCE

PAGE = SOURCE / "results" / "answers.md"


def test_the_outputs_from_committed_documents_are_of_this_version():
    done = subprocess.run(["/usr/bin/python3", SOURCE / "docs" / "generate" / "screens.py", "--check"], capture_output=True,
                          text=True, check=False, timeout=200, env={**os.environ, "ZEROTAX_BUILD": str(BUILD)})
    assert done.returncode == 0, done.stderr


def test_each_default_output_fits_one_screen():
    text = PAGE.read_text(encoding="utf-8")
    defaults = re.findall(r"^#### Default\n\n```\n\$ [^\n]*\n(.*?)\n```$", text, re.MULTILINE | re.DOTALL)
    assert len(defaults) >= 12
    for text in defaults:
        # Lines on time, and a blank line, come before the answer of cow.
        check_screen((text.split("\n\n", 1)[1] if text.startswith("Each further @") else text).splitlines())
