"""Recording from outside harms no program, in a short run of attachments.py and in the committed long run."""
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("attachments.py")
REFERENCE = Path(os.environ["ZEROTAX_SOURCE"]) / "results" / "reference" / "attachments.txt"


def test_a_program_in_eight_threads_is_unharmed():
    done = subprocess.run([sys.executable, SCRIPT, "--times", "4"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_thousand_were_unharmed():
    assert REFERENCE.read_text(encoding="utf-8").startswith(
        "1000 attachments to a program that allocates in 8 threads: 0 harmed, 0 not recorded to the end;")
