"""What each document that docs/documents.md links shows or asks, and the command that answers it today."""
from __future__ import annotations

from collections.abc import Callable

from blocks_snapshot import number, of_faults, time
from reference_text import REFERENCE, or_na, reference
from zerotax_plots.units import count_text, number_text, percent_text, size_text, time_text, whole_percent_text

PAGE = "results/reference/documents.md"
MIB = 1 << 20
NOT_HERE = "not in the reference run"


def rows_table(rows: list[tuple[str, str, str]]) -> str:
    """A table in Markdown: what is in the document, the command of today, its figure."""
    cells = [("in the document", "today", "in the reference run"), *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(3)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def snapshot_of(alternative: str) -> dict:
    """The result of an alternative of docs/snapshot.md."""
    return next(r for r in reference("snapshot.json")["results"] if r["alternative"] == alternative)


def writers(alternative: str) -> str:
    """How long the writers needed, and beside those that nothing disturbed."""
    result = snapshot_of(alternative)
    return f"{time(result['writers_wall_ns'])}, {number_text(result['slowdown'])} times as long as undisturbed"


def published() -> dict:
    """The result of the published program."""
    return next(r for r in reference("snapshot_published.json")["results"] if r["alternative"] == "published")


def published_words() -> str:
    """How long the published program's writers need."""
    result = published()
    return (f"{time(result['writers_wall_ns'])}, {number_text(result['slowdown'])} times as long as without its fork; its munmap "
            "fails (28 threads on 2 CPUs)")


def cpu_words() -> str:
    """The CPU time of the published program's child, by the kernel's account."""
    child = published()["child"]
    return f"the published program's child: {time(child['user_ns'])} in user mode, {time(child['system_ns'])} in the kernel"


def remedy_words() -> str:
    """The remedy that saves the most."""
    best = max((r for r in reference("snapshot_remedies.json")["results"] if "na" not in r.get("remedy", {"na": ""})),
               key=lambda r: r["remedy"]["saved_ns"])
    remedy = best["remedy"]
    return (f"{best['alternative']}: {number(int(remedy['reuse_faults']['with']))} reuse faults of the writers instead of "
            f"{number(int(remedy['reuse_faults']['without']))}, {time(remedy['saved_ns'])} of CPU time less")


def question_block() -> str:
    """The question about time in the kernel after a snapshot by fork."""
    fork, munmap = snapshot_of("fork"), snapshot_of("fork_munmap")
    after, held = fork["faults"]["after_end"], fork["faults_held"]["after_end"]
    before = fork["cpu"]["before_end"]
    others = min((r for r in reference("snapshot.json")["results"] if r["status"] == "ok"
                  and r["alternative"] not in ("none", "fork")), key=lambda r: r["slowdown"])
    return rows_table([
        ("the benchmark: threads write to an array, a child copies it in batches and unmaps each",
         "`zerotax snapshot --alternative fork_munmap`", f"the writers need {writers('fork_munmap')}"),
        ("the same without a snapshot (its macro left undefined)", "`zerotax snapshot --alternative none`",
         f"{time(snapshot_of('none')['writers_wall_ns'])}"),
        ("the program as it was published: fork before the writers start, one pass, 28 writers, 4 threads that copy, 1 GiB",
         "`zerotax snapshot --published`", published_words()),
        ("under some circumstances the copy is done before the writers are", "`zerotax snapshot --sweep usual`",
         reference("snapshot_sweep.json")["sentence"].rstrip(".")),
        ("placement on NUMA nodes", "`zerotax snapshot --sweep`", f"{NOT_HERE}: the machine has one node"),
        ("what htop shows: time in user mode and in the kernel", "`zerotax snapshot --plot`", cpu_words()),
        ("how can the faults after the child's end be avoided?", "`zerotax snapshot --remedies`", remedy_words()),
        ("what unmapping a batch early saves", "`zerotax snapshot`",
         f"{number(of_faults(munmap['faults'], 'copies'))} pages copied, {number(of_faults(fork['faults'], 'copies'))} without"),
        ("is the copy complete before the writers are?", "`zerotax snapshot`",
         f"complete after {time(fork['snapshot_ns'])}; the writers need {time(fork['writers_wall_ns'])}"),
        ("is the time in the kernel after the child's end spent copying?", "`zerotax snapshot`",
         f"no: {number(after['copies'])} pages copied and {number(after['reuses'])} reused after it; "
         f"{number(held['copies'])} and {number(held['reuses'])} where all writes come after it"),
        ("what the kernel does until then (htop shows only that it is busy)", "`zerotax snapshot`",
         f"{time(before['kernel_ns'])} in the kernel, {time(before['sections_ns']['copy'])} of them copying"),
        ("a page that one process maps should not be copied", "`zerotax cow -- COMMAND`",
         "reuses are a class of their own, separate from copies"),
        ("how can it be avoided?", "`zerotax snapshot` (7 alternatives)",
         f"best: {others['alternative']}, {number_text(others['slowdown'])} times as long as undisturbed"),
    ])


def counts_of(name: str, child: bool, key: str) -> int:
    """Faults of the parent, or of its children, in an example of docs/cow.md."""
    return sum(p["counts"][key] for p in reference(f"cow/{name}.json")["processes"] if (p["parent"] != 0) == child)


def growth(name: str) -> str:
    """How a child's resident memory grew, from the first to the last interval that has it."""
    sizes = [p["rss_bytes"] for i in reference(f"cow/{name}.json")["intervals"] for p in i["processes"]
             if p["child"] and not isinstance(p["rss_bytes"], dict)]
    return f"{size_text(sizes[0])} at first, {size_text(sizes[-1])} at the end" if sizes else "n/a"


def copying_end(name: str) -> str:
    """When an only child's copying ended, and its new memory before and after."""
    ended = reference(f"cow/{name}.json")["copying_ended"]
    if "na" in ended:
        return f"n/a: {ended['na']}"
    number_of = {key: count_text(value) for key, value in ended.items() if not key.endswith("_s")}
    return (f"{number_of['copies_until']} copies and {number_of['zero_fills_until']} pages of new memory in the first "
            f"{number_text(ended['at_s'] - ended['child_from_s'])} s, {number_of['copies_after']} and "
            f"{number_of['zero_fills_after']} after that")


def workers() -> str:
    """What each worker of the preforking server copied."""
    children = [p for p in reference("cow/prefork.json")["processes"] if p["parent"] != 0]
    return ", ".join(count_text(p["counts"]["copies"]) for p in children) + " copies"


def tracing_block() -> str:
    """The article on a tool that shows copy-on-write as it happens."""
    return rows_table([
        ("the tool: copies of the children of one process, a line and a bar each second", "`zerotax cow --pid P`",
         "a line for each process, with copies, reuses, zero-fills, bytes and memory"),
        ("only the first child that is forked", "`zerotax cow --first-child --pid P`", "its parent's memory stands beside it"),
        ("processes by name", "`zerotax cow --comm NAME -- COMMAND`", "a test checks it"),
        ("a helper that holds a program back until the tracer is attached", "`zerotax cow -- COMMAND`",
         "not needed: watched from its first instruction"),
        ("first example: a C program whose child writes one page each second",
         "`zerotax cow -- build/tests/recorded/forks 100 5 5 5 3`", "one copy each second, exactly (a test checks it)"),
        ("second example: an array that a forked Ruby script fills",
         "`zerotax cow --first-child -- ruby docs/examples/programs/bigarray.rb`",
         f"{count_text(counts_of('bigarray_ruby', True, 'copies'))} copies by the child"),
        ("the same in Python", "`zerotax cow --first-child -- python3 docs/examples/programs/bigarray.py`",
         f"{count_text(counts_of('bigarray_python', True, 'copies'))} copies by the child"),
        ("RSS and VSZ of both processes, from ps", "columns of each line, and `--json`",
         f"`bigarray.py`: the child's resident memory is {growth('bigarray_python')}"),
        ("copying ends where the child's memory begins to grow", "`copying_ended` of `zerotax cow --json`",
         f"`bigarray.py`: {copying_end('bigarray_python')}"),
        ("how much each worker of a preforking server copies",
         "`zerotax cow -- ./prefork` ([examples](../../docs/examples/programs/README.md))", workers()),
        ("scripts on top of the tracer", "`zerotax cow --json FILE --faults FILE`", "every fault is a line of JSON"),
        ("seeing into Ruby (and other interpreters)",
         "`zerotax cow --stacks`, `profile`, `record` ([scripts.md](../../docs/scripts.md))",
         "functions of CPython 3.12 and Node.js; Ruby 3.1 names none"),
    ])


def loop_of(allocator: str, size: int) -> dict:
    """A loop of docs/loop.md."""
    return next(r for r in reference("loop.json")["loops"] if r["allocator"] == allocator and r["size_bytes"] == size)


def loop_time(loop: dict) -> str:
    """The loop's total time; ~: estimated from the calls that it made."""
    return ("~" if loop["estimated"] else "") + long_or_short(loop["wall_s"])


def long_or_short(seconds: float) -> str:
    """272 s, 151 ms."""
    return f"{seconds:.0f} s" if seconds >= 1 else time_text(seconds * 1e9)


def rate_of(client: str, size: int) -> str:
    """MB/s of a client of docs/receiving.md."""
    found = next(r for r in reference("clients_2016.json")["results"] if r["client"] == client and r["size_bytes"] == size)
    return or_na(found["mb_per_s"], lambda rate: f"{number_text(rate)} MB/s")


def threshold_range() -> str:
    """The sizes between which largecache, which does as the allocator of the document did, keeps blocks and zeroes them."""
    every = [t for t in reference("thresholds.json")["thresholds"]
             if (t["allocator"], t["touch"], t["thread"]) == ("largecache", 0, "main")]
    low = next(t["at_bytes"] for t in every if any("memory that the allocator keeps" in c for c in t["changes"]))
    high = next(t["at_bytes"] for t in every if any("later callocs write no zeros" in c for c in t["changes"])
                and t["at_bytes"] > low)
    return f"from {count_text(low)} to {count_text(high - 1)} bytes"


def profile_share() -> str:
    """The share of zeroing in the profile of docs/profile.md."""
    lines = (REFERENCE / "profile-largecache.txt").read_text(encoding="utf-8").splitlines()
    return " ".join(next(line for line in lines if line.endswith("  zeroing")).split()[1:3])


def download_block() -> str:
    """The post on a slow download, and on the calloc of an operating system."""
    small, large = 100 * MIB, 1000 * MIB
    cache, glibc = loop_of("largecache", small), loop_of("glibc", small)
    zeroing, whole = cache["zeroing"], loop_of("largecache", large)
    switches = count_text(round(zeroing["voluntary_switches"] + zeroing["involuntary_switches"]))
    folders = sum(path.is_dir() for path in (REFERENCE / "reports").iterdir())
    rates = ", ".join(rate_of("requests_2016", size) for size in (10_000_000, 100_000_000, 1_000_000_000))
    return rows_table([
        ("a download by HTTPS is slower the larger its chunks: 10 MB, 100 MB, 1 GB",
         "`zerotax clients --client requests_2016 --size 100MB`", rates),
        ("it is the receive buffer, cleared again for each recv", "`zerotax clients --client cffi_1_9 --size 100MB`",
         f"{rate_of('cffi_1_9', 100_000_000)} with a cleared buffer, {rate_of('cffi_new', 100_000_000)} with calloc"),
        ("who clears it in a program", "`zerotax record -- COMMAND`", "call site by call site, with the script's function"),
        ("calloc as malloc and memset: time grows with the size", "`zerotax run --case malloc_loop --case calloc_loop`",
         "[time_vs_size](time_vs_size.png)"),
        ("1 GB of calloc costs as much as 1 GB of malloc", "`zerotax run --loop`",
         f"glibc, 10,000 of 1000 MiB: {loop_time(loop_of('glibc', large)['malloc'])} and "
         f"{loop_time(loop_of('glibc', large)['calloc'])}"),
        ("the loop of 10,000 callocs of 100 MiB: instant on Linux", "`zerotax run --loop --allocator glibc`",
         loop_time(glibc["calloc"])),
        ("the same on macOS: almost eight minutes", "`zerotax run --loop --allocator largecache` (its large cache, rebuilt)",
         loop_time(cache["calloc"])),
        ("1000 MiB instead: instant there, too", "`zerotax run --loop --allocator largecache`", loop_time(whole["calloc"])),
        ("the cache takes blocks of 127 KB to 125 MB", "`zerotax thresholds --allocator largecache`", threshold_range()),
        ("what sample(1) showed: nearly all of it below bzero", "`zerotax profile --allocator largecache --size 100MiB`",
         f"{profile_share()} of the samples zero"),
        ("pages are cleared whether or not they were written to", "`zerotax findings`",
         f"{whole_percent_text(cache['redundant_share'])} of what the loop zeroes is zero already"),
        ("how many cycles that takes", "`zerotax run --loop`",
         f"{long_or_short(zeroing['user_s'] + zeroing['kernel_s'])} of CPU time; cycles where the machine counts them"),
        ("how many context switches", "`zerotax run --loop`", switches),
        ("how much memory that nobody wrote to is paged in", "`zerotax run --loop`",
         f"{count_text(round(zeroing['faults']))} page faults"),
        ("a report to the allocator's project", "`zerotax report --allocator NAME`",
         f"[{folders} folders of reports](reports)"),
    ])


def casper_section(process: dict, its: str) -> str:
    """The time and share of one of the paper's sections in a process."""
    sections = [s for s in process["samples"][0]["sections"] if s["casper"] == its]
    return f"{time_text(sum(s['ns'] for s in sections))}, {percent_text(sum(s['share'] for s in sections))}"


def bench_median(name: str, part: str) -> str:
    """The median of a line of benchmark-recorder.txt, below the heading that holds `part`."""
    inside = False
    for line in (REFERENCE / "benchmark-recorder.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("ns per"):
            inside = part in line
        elif inside and line.startswith(name + " "):
            return line[len(name):].split()[0] + " ns"
    raise SystemExit(f"benchmark-recorder.txt has no '{name}' below '{part}'")


def lost_records() -> str:
    """What 10 million records a second lost, in memory."""
    text = (REFERENCE / "benchmark-recorder.txt").read_text(encoding="utf-8")
    lines = text.split("in memory")[1].split("\n\n")[0].splitlines()
    lost = [int(line.split()[3]) for line in lines if " threads " in line]
    if not lost:
        raise SystemExit("benchmark-recorder.txt says nothing of records in memory")
    return f"{sum(lost)} lost at 10 million a second, in memory"


def casper_block() -> str:
    """The paper on a tracer, and on what fork costs."""
    fork = reference("fork.json")
    small, large = fork["processes"][0], fork["processes"][-1]
    clearing = small["samples"][0]["clearing"]
    pages = small["kernel_pages"]
    ways = {way["name"]: way for way in fork["ways"]["ways"]}
    shared = next(r for r in fork["shared_page_tables"] if r["populated_bytes"] == 1 << 30)
    reuses = snapshot_of("fork")["faults"]["after_end"]["reuses"]
    sections = [(f"Table I: {what}", "`zerotax fork`", casper_section(small, its)) for what, its in (
        ("search of the process table", "Search"), ("uballoc", "uballoc"), ("setuctxt", "setuctxt"),
        ("the loop of procdup", "procdup loop"), ("miscellaneous", "Miscellaneous"))]
    return rows_table([
        ("a clock of high resolution", "`zerotax trace run -- COMMAND`",
         f"{bench_median('zerotax', 'record')} a record; reading the clock and storing alone take "
         f"{bench_median('bare: clock read, 16 bytes stored', 'record')}"),
        ("event records that the developer defines, in a circular buffer, then in a file", "`ZEROTAX_EVENT`, `zerotax trace run`",
         lost_records()),
        ("a program that inserts records at entry and exit of functions", "`zerotax trace run --functions`, `trace functions`",
         f"{bench_median('zerotax', 'call')} a call"),
        ("the time between any two events", "`zerotax trace summary --begin A --end B --key FIELD`",
         "also across threads and processes, with variance and a histogram ([trace.md](../../docs/trace.md))"),
        ("routines that read records back", "`zerotax/trace_reader.h` for C and C++, `zerotax_trace` for Python",
         "`zerotax trace print`, `--json`, `--perfetto`, and any reader of CTF, too"),
        ("start and stop from outside, governed by the permissions of a file",
         "`zerotax trace start`, `stop`, `status` `--pid P`", "[trace.md](../../docs/trace.md)"),
        ("filters, and a buffer that keeps what preceded an event", "`--event`, `--until`", "[trace.md](../../docs/trace.md)"),
        ("who calls whom, with total and self time and their variance", "`zerotax trace functions --tree`, `--diff`",
         "[trace.md](../../docs/trace.md)"),
        ("events of the kernel", "`zerotax trace run --kernel=EVENT,...`", "any tracepoint (`zerotax trace events`)"),
        ("traces of page faults", "`zerotax cow --faults FILE`, `zerotax trace run --kernel`", "every fault, with its class"),
        ("profiles by sampling, and what they cannot see", "`zerotax profile -- COMMAND`",
         "`unseen` in its JSON: CPU time that no sample stands for"),
        *sections,
        ("Table I: total", "`zerotax fork`",
         ", ".join(f"{time_text(p['samples'][0]['mean_ns'])} ({p['name']})" for p in (small, large))),
        ("Table I: variance", "`zerotax fork`",
         "a 95 % interval for each section; mean and variance of each phase, by the kernel's own events"),
        ("Table II, and each proposal", "[fork.md](../../docs/fork.md), the paper's proposals",
         "each beside what Linux does today, with the reason"),
        ("the time grows with the process", "`zerotax fork`", fork["sentence"].replace("|", "/")),
        ("calls of the page-table allocator in a fork: six", "`zerotax fork`",
         f"{number_text(pages['pages'])} pages, {number_text(pages['zeroed_pages'])} of them cleared ({small['name']} process)"),
        ("60 % of its time is clearing", "`zerotax fork`", f"{clearing['text']}, {percent_text(clearing['share'])} of the fork"),
        ("contiguous allocations: two of thousands over a page", "`zerotax fork`",
         f"{number_text(pages['contiguous'])} in a fork"),
        ("shared page tables (the paper's last proposal)", "`zerotax fork`, predicted by its model",
         f"1 GiB: {time_text(shared['fork_ns'])} today, {time_text(shared['shared_ns'])} with them"),
        ("forks that are followed by exec", "`zerotax fork`",
         f"1 GiB: fork {time_text(ways['fork']['call_ns'])}, vfork {time_text(ways['vfork']['call_ns'])}, posix_spawn "
         f"{time_text(ways['posix_spawn']['call_ns'])}"),
        ("needless faults on pages that nobody shares any more", "`zerotax snapshot`, `zerotax cow`",
         f"{number(reuses)} reuses after the child's end"),
    ])


BLOCKS: dict[str, Callable[[], str]] = {f"results/reference {name}": block for name, block in (
    ("question", question_block), ("tracing", tracing_block), ("download", download_block), ("casper", casper_block))}
