"""Figures, pages and the bill replace only files that they wrote themselves. An empty --out does not mean the current
folder.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from zerotax_plots.files import ResultsError
from zerotax_plots.output import is_document, is_figure, is_page, write, write_document

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "results" / "reference"
MINE = "my own\n"


def run(script, *words, cwd):
    return subprocess.run([sys.executable, ROOT / script, *words], cwd=cwd, capture_output=True, text=True, check=False,
                          timeout=300)


def ours(data):
    return data.startswith(b"ours")


def test_figures_replace_figures_only(tmp_path):
    words = ["plots/bill.py", REFERENCE / "bill.json", "--out", "."]
    for _ in range(2):
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bill.png", "bill.svg"]
    for name in ("bill.png", "bill.svg"):
        (tmp_path / name).write_text(MINE)
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 2 and f"{name}: zerotax did not write this file" in done.stderr
        assert (tmp_path / name).read_text() == MINE
        assert run(*words, "--force", cwd=tmp_path).returncode == 0


def test_the_page_of_a_comparison_replaces_pages_only(tmp_path):
    document = next(path for path in REFERENCE.rglob("*.json") if '"schema": "zerotax.history/1"' in path.read_text())
    words = ["plots/write_comparison.py", document, "--out", "page.html"]
    for _ in range(2):
        done = run(*words, cwd=tmp_path)
        if "install" in done.stderr:
            pytest.skip(done.stderr)
        assert done.returncode == 0, done.stderr
    (tmp_path / "page.html").write_text(MINE)
    assert run(*words, cwd=tmp_path).returncode == 2 and (tmp_path / "page.html").read_text() == MINE


@pytest.mark.parametrize(("script", "words"), [("plots/bill.py", ["", "--out", "x"]),
                                               ("plots/all_figures.py", [REFERENCE, "--out", ""]),
                                               ("plots/write_page.py", [REFERENCE, "--out="])])
def test_an_empty_word_is_not_the_current_folder(tmp_path, script, words):
    done = run(script, *words, cwd=tmp_path)
    assert done.returncode == 2 and "it is empty" in done.stderr and not list(tmp_path.iterdir())


def bill(folder, *words, name="xz"):
    programs = [{"name": name, "group": "g", "does": "d", "packages": ["no-such-package"], "command": ["true"], "input": []}]
    (folder / "programs.json").write_text(json.dumps({"prelude": [], "programs": programs}))
    return run("docs/bill/bill.py", "--programs", folder / "programs.json", *words, cwd=folder)


@pytest.mark.parametrize("out", ["", "full", "file", "foreign", "shaped"])
def test_a_bill_fills_no_folder_of_others(tmp_path, out):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text(MINE)
    (tmp_path / "file").write_text(MINE)
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "bill.json").write_text('{"total": 3}')
    (tmp_path / "shaped" / "programs").mkdir(parents=True)
    (tmp_path / "shaped" / "programs" / "xz.json").write_text('{"mine": 1}')
    (tmp_path / "programs.json").write_text("")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = bill(tmp_path, "--out", out)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    del before[tmp_path / "programs.json"], after[tmp_path / "programs.json"]
    assert after == before


@pytest.mark.parametrize("name", ["../xz", "/tmp/xz", "..", "a b", ""])
def test_a_program_of_a_bill_names_no_other_folder(tmp_path, name):
    done = bill(tmp_path, "--out", "out", name=name)
    assert done.returncode == 2 and "is not a program's name" in done.stderr and not (tmp_path / "out").exists()


def test_a_document_replaces_one_of_its_kind(tmp_path):
    file = tmp_path / "d.json"
    for number in (1, 2):
        write_document(file, {"schema": "zerotax.machines/1", "number": number})
    assert json.loads(file.read_text())["number"] == 2
    for text in ('{"schema": "zerotax.run/1"}', "[]", "notes", "[" * 100_000):
        file.write_text(text)
        with pytest.raises(ResultsError, match="did not write"):
            write_document(file, {"schema": "zerotax.machines/1"})
        assert file.read_text() == text


def test_kinds_are_told_by_what_is_in_the_file():
    assert is_figure((REFERENCE / "bill.png").read_bytes()) and is_figure((REFERENCE / "bill.svg").read_bytes())
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 25
    assert not is_figure(png + b"\0\0\0\x08tEXtSoftware\0") and not is_figure(b"<svg></svg>") and not is_figure(b"")
    assert is_page(b"<!DOCTYPE html>\n<b>zerotax</b>") and not is_page(b"<!DOCTYPE html>") and not is_page(b"<b>zerotax</b>")
    assert is_document("a/1")(b'{"schema": "a/1"}') and not is_document("a/1")(b'{"schema": "b/1"}')


def test_a_failed_write_leaves_the_earlier_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("ours")
    code = ("import resource, signal, sys, pathlib; from zerotax_plots.output import write; "
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
            "write(pathlib.Path(sys.argv[1]), b'x' * 1000, lambda old: True)")
    done = subprocess.run([sys.executable, "-c", code, file], env={**os.environ, "PYTHONPATH": str(ROOT / "plots")},
                          capture_output=True, text=True, check=False)
    assert "cannot be written" in done.stderr.splitlines()[-1]
    assert file.read_text() == "ours" and list(tmp_path.iterdir()) == [file]


def test_links_stay_and_lead_to_nothing_new(tmp_path):
    (tmp_path / "file").write_text("ours")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("elsewhere")
    write(tmp_path / "link", b"new", ours)
    write(tmp_path / "dangling", b"new", ours)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"
    assert not (tmp_path / "dangling").is_symlink() and not (tmp_path / "elsewhere").exists()


def test_programs_are_never_replaced(tmp_path):
    for text, mode in ((b"\x7fELF", 0o644), (b"ours", 0o755)):
        file = tmp_path / "file"
        file.write_bytes(text)
        file.chmod(mode)
        with pytest.raises(ResultsError, match="was not replaced"):
            write(file, b"x", ours, force=True)
        assert file.read_bytes() == text


def test_the_temporary_file_of_a_killed_writer_stops_nobody(tmp_path):
    code = ("import os, signal, sys, pathlib; from zerotax_plots import output; "
            "output.os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL); "
            "output.write(pathlib.Path(sys.argv[1]), b'new', lambda old: True)")
    (tmp_path / "file").write_text("ours")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "file"], check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "plots")})
    assert done.returncode == -signal.SIGKILL and (tmp_path / "file").read_text() == "ours"
    write(tmp_path / "file", b"new", ours)
    assert (tmp_path / "file").read_text() == "new"


def test_a_package_empties_no_folder_of_others(tmp_path):
    (tmp_path / "notes").write_text(MINE)
    for folder in (".", "notes", ""):
        done = subprocess.run([sys.executable, ROOT / "cmake" / "package.py", tmp_path, folder], cwd=tmp_path,
                              capture_output=True, text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
    assert (tmp_path / "notes").read_text() == MINE
