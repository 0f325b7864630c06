"""Tests `zerotax advise --goal shared` on programs whose copies after forks have a known cause."""

import os
import pathlib
import shutil
import subprocess
import textwrap

import pytest
from advising import PROGRAMS, advise
from conftest import BUILD, NOBODY, SOURCE, clean_environment, is_na, mostly_long, open_to_nobody, skip_if_unreadable, zerotax
from python_lists import FORKED_LISTS, PYTHON

RUBY = "/usr/bin/ruby"
SHARED = ["--goal", "shared", "--rounds", "10"]
MIB = 1 << 20
FREEZE, DISABLE = "gc.freeze() before fork", "gc.disable() before fork"
DONTFORK = "MADV_DONTFORK for large blocks"
with_setpriv = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None,
                                  reason="only root, with setpriv, can become nobody")


@pytest.fixture(name="lists")
def script_of_lists(tmp_path):
    return script(tmp_path, FORKED_LISTS)


def script(folder, text, name="script"):
    path = folder / name
    path.write_text(textwrap.dedent(text))
    path.chmod(0o644)
    return path


def copies(found):
    return found.json["present"]["figures"]["copies"]


def test_copies_of_the_collector_end_with_gc_freeze(lists):
    found = advise(PYTHON, lists, "collect", options=SHARED)
    assert (found.status, found.advice["kind"], found.advice["remedy"]) == (0, "remedy", FREEZE), found.out
    assert found.advice["source"] == "import gc; gc.collect(); gc.freeze()" and found.advice["line"] is None
    assert "\nWrite before the forks:\nimport gc; gc.collect(); gc.freeze()\n" in found.out
    # Each list has 72 bytes: 14.4 MB in all, of which the collector writes each page.
    assert 13 * MIB < copies(found)["copied_bytes"] < 17 * MIB, copies(found)
    assert (copies(found)["forks"], copies(found)["execs"]) == (1, 0)
    row = found.remedy(FREEZE)
    assert row["verdict"] == "LESS" and row["ratios"]["shared"]["high"] < 0.1, row
    assert row["confirmed"] and row["line"] == ""
    # The child calls gc.collect() itself.
    assert found.remedy(DISABLE)["verdict"] == "SAME", found.out


def test_gc_freeze_does_not_help_if_reference_counts_copy(lists):
    found = advise(PYTHON, lists, "iterate", options=SHARED)
    assert (found.advice["kind"], found.advice["remedy"]) == ("nothing_helps", None), found.out
    assert copies(found)["copied_bytes"] > 10 * MIB
    assert "neither gc.freeze() nor gc.disable() before the fork reduces the copies" in found.advice["sentence"], found.out
    assert "Reference counts or the program's own writes do." in found.advice["sentence"]


def test_a_program_that_never_forks_has_nothing_to_gain(lists):
    found = advise(PYTHON, lists, "never", options=SHARED)
    assert (found.status, found.advice["kind"]) == (0, "nothing_to_gain"), found.out
    assert found.advice["sentence"] == "Nothing to gain: the program never forks, so its processes share no memory."
    assert copies(found)["copied_bytes"] == copies(found)["forks"] == 0 and len(found.json["runs"]) == 1


def test_a_fork_that_copies_little_has_nothing_to_gain(lists):
    found = advise(PYTHON, lists, "nothing", options=SHARED)
    assert found.advice["kind"] == "nothing_to_gain" and 0 < copies(found)["copied_bytes"] < MIB, found.out
    assert found.advice["sentence"].startswith("Nothing to gain: after 1 fork, the processes copy "), found.out


@pytest.mark.parametrize("option", mostly_long(["-I", "-E", "-S"], ["-I"], "a search with ten rounds"))
def test_python_that_ignores_the_hook_is_reported(lists, option):
    found = advise(PYTHON, option, lists, "collect", options=SHARED)
    for name in (FREEZE, DISABLE):
        assert found.why_not_tried(name) == (
            "Python ignored the hook, as with -I, -E or -S, or in a cleared environment"), found.out
    assert found.advice["kind"] == "nothing_helps" and "gc.freeze" not in found.advice["sentence"]


@pytest.mark.long("a search with ten rounds")
def test_the_sitecustomize_of_the_user_still_runs(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    script(own, "import builtins\nbuiltins.own = 'own'\n", "sitecustomize.py")
    program = script(tmp_path, FORKED_LISTS.replace("import gc, os, sys", "import gc, os, sys\nprint(own)"))
    found = advise(PYTHON, program, "collect", options=SHARED, PYTHONPATH=str(own))
    assert found.advice["remedy"] == FREEZE, found.out


@pytest.mark.long("a search with ten rounds")
@pytest.mark.skipif(not pathlib.Path(RUBY).exists(), reason="ruby is missing")
def test_ruby_compacts_its_heap_before_the_first_fork(tmp_path):
    program = script(tmp_path, """
        kept = Array.new(800_000) { |i| "str #{i}" }
        kept = kept.each_with_index.select { |_, i| i % 4 == 0 }.map(&:first)
        GC.start
        2.times do
          Process.wait(fork { Array.new(200_000) { |i| "other #{i}" }; exit!(0) })
        end
        puts kept.size
        """)
    found = advise(RUBY, program, options=SHARED)
    assert copies(found)["forks"] == 2 and copies(found)["copied_bytes"] > MIB, found.out
    row = found.remedy("GC.compact before fork")
    assert row["source"] == "GC.start; GC.compact" and row["verdict"] not in ("BREAKS", "CHANGED OUTPUT", ""), found.out
    if ruby_version() < (3, 3):
        assert found.why_not_tried("Process.warmup before fork").endswith("lacks Process.warmup, which exists since 3.3")
    else:
        assert found.remedy("Process.warmup before fork")["source"] == "Process.warmup"


def ruby_version():
    text = subprocess.run([RUBY, "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in text.split(".")[:2])


def test_copies_equal_the_private_memory_of_the_children(tmp_path):
    counts = tmp_path / "counts"
    found = advise(PROGRAMS / "prefork", counts, options=SHARED)
    assert found.advice["kind"] == "nothing_helps" and copies(found)["forks"] == 4, found.out
    assert found.advice["sentence"] == "Nothing that was tried helps: the processes write to the pages that they share."
    private = 1024 * sum(int(line) for line in counts.read_text().split())
    others = copies(found)["copied_bytes"] - copies(found)["by_first_bytes"]
    assert 16 * MIB <= others <= 16 * MIB + 4 * 40 * 4096
    assert abs(private - others) < 4 * 20 * 4096, (private, copies(found))


@pytest.fixture(scope="module", name="holder")
def program_that_holds_a_block(tmp_path_factory):
    program = tmp_path_factory.mktemp("holder") / "holder"
    subprocess.run(["gcc", "-O1", "-g", "-o", program, pathlib.Path(__file__).parent / "holder.c"], check=True, timeout=60)
    return program


@pytest.mark.parametrize("way", mostly_long(["exec", "end", "free"], ["exec"], "a search with ten rounds"))
def test_a_block_that_no_child_reads_gets_dontfork(holder, way):
    found = advise(holder, way, options=SHARED)
    assert (found.status, found.advice["remedy"]) == (0, DONTFORK), found.out
    assert found.advice["source"] == "madvise(p, n, MADV_DONTFORK);" and found.advice["line"] is None
    assert "\nWrite before the forks:\nmadvise(p, n, MADV_DONTFORK);\n" in found.out
    row = found.remedy(DONTFORK)
    # The parent copies 4 MiB of the block after each of 20 forks.
    assert copies(found)["copied_bytes"] >= 80 * MIB
    assert row["verdict"] == "LESS" and row["ratios"]["shared"]["high"] < 0.3, row
    assert "here 64 MiB, mostly of " in row["words"] and "holder.c:" in row["words"], row["words"]


def test_a_block_that_children_read_does_not_get_dontfork(holder):
    found = advise(holder, "read", options=SHARED)
    assert found.why_not_tried(DONTFORK) == "a child of fork reads or writes a block of 1 MiB or more"
    assert "source" not in found.advice, found.out


def test_a_child_that_reads_a_block_ends_the_trial(holder):
    library = BUILD / "lib" / "libzerotax-dontfork.so"
    for way, status in (("read", -9), ("free", 0), ("exec", 0)):
        done = subprocess.run([holder, way], env=clean_environment(LD_PRELOAD=library, ZEROTAX_BEFORE_FORK="dontfork"),
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, (way, done.stderr)
        assert (done.stderr == "zerotax: a child of fork uses a block with MADV_DONTFORK\n") == (way == "read")


def test_costly_forks_get_dontfork_for_the_goal_cpu(holder):
    found = advise(holder, "exec", options=["--settings-only", "--rounds", "10"])
    row = found.remedy(DONTFORK)
    assert row["runs"] >= 1 and row["verdict"] in ("FASTER", "SAME", "AMBIGUOUS", "SLOWER"), row
    assert row["source"] == "madvise(p, n, MADV_DONTFORK);"


@with_setpriv
def test_an_ordinary_user_gets_the_same_advice(tmp_path):
    skip_if_unreadable()
    open_to_nobody(tmp_path)
    # Without root, zerotax infers copies from the pages that are shared when it reads the fork. A busy machine delays the
    # read, and earlier copies look like reuses.
    later = FORKED_LISTS.replace("if child == 0:", "if child == 0:\n        time.sleep(0.5)")
    waiting = script(tmp_path, later.replace("import gc,", "import gc, time,"))
    found = advise(PYTHON, waiting, "collect", options=SHARED, prefix=NOBODY)
    assert found.advice["remedy"] == FREEZE, found.out
    assert copies(found)["seen"] == "user_mode" and is_na(copies(found)["zero_filled_bytes"])
    # Each list takes 64 bytes. Some copies look like reuses to an ordinary user, but the upper bound contains them.
    assert 10 * MIB < copies(found)["copied_bytes"] <= copies(found)["at_most_bytes"]
    assert copies(found)["at_most_bytes"] >= 200_000 * 64
    assert found.remedy(FREEZE)["ratios"]["shared"]["high"] < 0.1


@pytest.mark.long("a search with ten rounds")
def test_copies_before_an_exec_and_multiprocessing_are_reported(tmp_path):
    program = script(tmp_path, """
        import multiprocessing, subprocess
        lists = [[] for _ in range(200_000)]
        def touch():
            for each in lists:
                pass
        if __name__ == "__main__":
            subprocess.run(["true"], preexec_fn=touch)
            worker = multiprocessing.get_context("fork").Process(target=touch)
            worker.start()
            worker.join()
        """)
    found = advise(PYTHON, program, options=SHARED)
    assert (copies(found)["forks"], copies(found)["execs"]) == (2, 1)
    assert 10 * MIB < copies(found)["before_exec_bytes"] < 17 * MIB, copies(found)
    exec_text, module_text = found.json["untried_changes"]
    assert "before they executed another program" in exec_text and "set_start_method" in module_text


@pytest.mark.parametrize(("options", "words"), [
    (["--goal", "shared", "--frontier"], "--frontier has no values for --goal shared"),
    (["--goal", "share"], "invalid --goal 'share'")])
def test_questions_without_an_answer_are_refused(options, words, lists):
    done = zerotax("advise", *options, "--", PYTHON, lists, "collect")
    assert done.returncode == 2 and words in done.stderr.splitlines()[-1], done.stderr


def test_without_perf_events_the_exit_status_is_3(lists):
    denying = [PYTHON, str(SOURCE / "tests" / "support" / "denying.py"), "--as", "perf_event_open"]
    done = zerotax("advise", *SHARED, "--", PYTHON, lists, "collect", prefix=denying)
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1, done.stderr
