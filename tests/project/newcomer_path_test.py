"""newcomer_path.sh runs the commands of README.md and nothing else. On a bare machine, the script is started by hand.
"""
import re
import shutil
import subprocess

from conftest import SOURCE

SCRIPT = SOURCE / "tests" / "project" / "newcomer_path.sh"
README = """# x

<!-- not run: takes long -->
```sh
./run study       # builds
./run test        # tests
```

Save this as `script.py`:

```python
print("saved")
```

```python
print("not saved")
```

<!-- not run: takes long -->
```sh
PATH=$PWD/bin:$PATH
tool \\
  script.py
```

<!-- not run: needs a server -->
```sh
false
```
"""


def path(folder, readme, *words):
    """Returns the script's output for this README, and its status."""
    (folder / "tests" / "project").mkdir(parents=True, exist_ok=True)
    (folder / "bin").mkdir(exist_ok=True)
    shutil.copy(SCRIPT, folder / "tests" / "project")
    (folder / "README.md").write_text(readme)
    for name, text in {"run": "echo ran $1", "bin/tool": 'cat "$1"'}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run([folder / "tests" / "project" / SCRIPT.name, *words], capture_output=True, text=True, check=False)
    return done.stdout.splitlines(), done.returncode


def test_it_runs_the_commands_in_order_and_saves_the_script(tmp_path):
    said, status = path(tmp_path, README)
    assert status == 0 and re.fullmatch(r"newcomer's path: 3 commands, all worked, 0 min \d+ s", said[-1]), said
    assert [line for line in said if not line.startswith("newcomer's path: ")] == ["ran study", 'print("saved")']
    assert len([line for line in said if "that took" in line]) == 3
    assert "ran test" in path(tmp_path, README, "--all")[0]


def test_a_command_that_fails_is_named(tmp_path):
    said, status = path(tmp_path, README.replace("tool", "no-such-tool"))
    assert status == 1 and "failed with status 127" in said[-1] and "no-such-tool   script.py" in said[-1]


def test_a_readme_without_commands_fails(tmp_path):
    assert path(tmp_path, "# x\n") == ([], 1)


def test_the_real_readme_has_what_the_path_needs():
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    assert "\nSave this as `numpy_rounds.py`:\n\n```python\n" in text and "\n./run study  " in text
