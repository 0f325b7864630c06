"""benchmark-policies writes a document that matches its schema, and its figure can be drawn from it."""

import json
import subprocess
import sys

import pytest
from conftest import BUILD, PAGE, SOURCE

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
    # In each call, the program writes to 26 of the block's 256 pages.
    assert contenders["unmap"]["faults"] == contenders["purge"]["faults"] == 26
    assert contenders["memset"]["faults"] == contenders["dirty"]["faults"] == 0
    assert contenders["memset"]["zeroed_bytes"] == contenders["libmalloc-116"]["zeroed_bytes"] == 1 << 20
    assert contenders["dirty"]["zeroed_bytes"] == 26 * PAGE
    assert contenders["unmap"]["zeroed_bytes"] == contenders["purge"]["zeroed_bytes"] == 0
    assert all("na" not in its["ns"] if isinstance(its["ns"], dict) else its["ns"] > 0 for its in contenders.values())
    best = min(its["ns"] for name, its in contenders.items() if name not in document["policies"])
    assert document["policies"][-1] == "adaptive" and "glibc" not in document["policies"]
    assert all(its["to_best_allocator"] == its["ns"] / best for its in contenders.values())
    again, verdict = touched["again"], touched["verdict"]
    rivals = again.keys() - {"adaptive"}
    assert 2 <= len(rivals) <= 3 and set(sorted(rivals, key=again.get)[:1]) == {verdict["best_other"]}
    assert verdict["to_best_other"] == again["adaptive"] / again[verdict["best_other"]]
    assert verdict["best_allocator"] == min(rivals - set(document["policies"]), key=again.get)
    assert verdict["to_best_allocator"] == again["adaptive"] / again[verdict["best_allocator"]]
    drawn = subprocess.run([sys.executable, SOURCE / "plots" / "policies.py", file, "--format", "svg"],
                           capture_output=True, text=True)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "policies.svg").stat().st_size > 10_000


def judged_again(*arguments):
    return subprocess.run([BUILD / "bin" / "benchmark-policies", *arguments], capture_output=True, text=True)


def test_an_earlier_file_is_judged_again_without_measuring(tmp_path):
    document = json.loads((SOURCE / "results" / "reference" / "policies.json").read_text())
    measured = {"glibc": 2000.0, "scudo": {"na": "it failed"}, "jemalloc": 500.0, "adaptive": 250.0, "purge": {"na": "late"}}
    nobody = {"adaptive": 250.0}
    for cell, times in zip(document["groups"][0]["cells"], (measured, nobody)):
        cell["contenders"] = {name: {"ns": ns, "faults": 0, "zeroed_bytes": 0} for name, ns in times.items()}
    del document["policies"]
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps(document))
    done = judged_again("--read", old, "--json", new)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(new.read_text())
    validate.validator("policies").validate(told)
    first, second = ({name: its["to_best_allocator"] for name, its in cell["contenders"].items()}
                     for cell in told["groups"][0]["cells"][:2])
    assert first == {"glibc": 4, "scudo": {"na": "it failed"}, "jemalloc": 1, "adaptive": 0.5, "purge": {"na": "late"}}
    assert second == {"adaptive": {"na": "no other allocator was measured"}}
    assert "adaptive" in told["policies"]


@pytest.mark.parametrize(("content", "words"), [
    (None, "cannot"), ("{", "JSON"), ('{"schema": "zerotax.fork/1"}', "not 'zerotax.policies/1'"),
    ('{"schema": "zerotax.policies/1"}', "is damaged")])
def test_what_is_no_such_file_is_refused_in_one_line(tmp_path, content, words):
    if content is not None:
        (tmp_path / "old.json").write_text(content)
    done = judged_again("--read", tmp_path / "old.json", "--json", tmp_path / "new.json")
    assert (done.returncode, done.stdout) == (2, "") and not (tmp_path / "new.json").exists()
    assert done.stderr.count("\n") == 1 and words in done.stderr, done.stderr


def test_judging_again_needs_a_file_to_write_to(tmp_path):
    old = tmp_path / "old.json"
    old.write_text("{}")
    for arguments, words in ((["--read", old], "--json"), (["--read", old, "--json", old], "--read")):
        done = judged_again(*arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr
    assert old.read_text() == "{}"
