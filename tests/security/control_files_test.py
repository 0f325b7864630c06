"""A process names a folder for its control file (`zerotax trace`). In this folder, something that is not a control file
has the control file's name. Root's command does not open this replacement.
"""

import os
import subprocess

import pytest
from attacking import Opened, make_device, memory_folder, root_only
from conftest import NOBODY, clean_environment, zerotax
from waiting import wait_for

pytestmark = root_only


@pytest.mark.parametrize("how", ["device", "link", "pipe"])
def test_what_lies_at_the_path_of_a_control_file_is_left_alone(how):
    with memory_folder() as folder:
        make_device(f"{folder}/device")
        with subprocess.Popen([*NOBODY, "sleep", "1000"], env=clean_environment(ZEROTAX_TRACE_CONTROL=folder)) as run:
            try:
                assert wait_for(lambda: os.readlink(f"/proc/{run.pid}/exe").endswith("/sleep"))
                control = f"{folder}/control-{run.pid}"
                if how == "device":
                    make_device(control)
                elif how == "link":
                    os.symlink(f"{folder}/device", control)
                else:
                    os.mkfifo(control)
                opened = Opened(f"{folder}/device", *([] if how == "link" else [control]))
                done = zerotax("trace", "stop", "--pid", run.pid)
            finally:
                run.kill()
        assert done.returncode == 2 and "cannot be used" in done.stderr, done.stderr
        assert opened.names() == set()
