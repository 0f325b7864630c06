"""Blocks that list what each document of docs/README.md shows or asks, with the command that answers it today."""
from __future__ import annotations

from blocks_kernel import of_faults
from inline_numbers import filled
from reference_text import REFERENCE, block, number, reference, rows_table
from zerotax_plots.units import count_text, number_text, percent_text, size_text, time_text

PAGE = "results/reference/documents.md"
MIB = 1 << 20
NOT_HERE = "not in the reference run"
# Prefixes of paths in templates.
FORK, MUNMAP, NONE = (f"snapshot.json results/[alternative={name}]" for name in ("fork", "fork_munmap", "none"))
PUBLISHED = "snapshot_published.json results/[alternative=published]"
CACHE = f"loop.json loops/[allocator=largecache,size_bytes={100 * MIB}]"
SMALL, LARGE = (f"fork.json processes/{place}" for place in (0, -1))
WAYS = "fork.json ways/ways"
SHARED = f"fork.json shared_page_tables/[populated_bytes={1 << 30}]"
RECORD, CALL = (rf"benchmark-recorder.txt /ns per {what}[\s\S]*?\n" for what in ("record", "call"))


def questions_table(rows: list[tuple[str, str, str]]) -> str:
    """Returns the table of questions, today's commands and results. Each result is a template."""
    return rows_table(["in the document", "today", "in the reference run"],
                      [[asked, command, filled(answer)] for asked, command, answer in rows])


def snapshot_of(alternative: str) -> dict:
    """Returns the result of an alternative of docs/snapshot.md."""
    return next(r for r in reference("snapshot.json")["results"] if r["alternative"] == alternative)


def remedy_words() -> str:
    """Describes the remedy that saves the most time."""
    best = max((r for r in reference("snapshot_remedies.json")["results"] if "na" not in r.get("remedy", {"na": ""})),
               key=lambda r: r["remedy"]["saved_ns"])
    return filled("{alternative text}: {remedy/reuse_faults/with whole} reuse faults of the writers instead of "
                  "{remedy/reuse_faults/without whole}, {remedy/saved_ns time} of CPU time less", best)


def best_words() -> str:
    """Describes the alternative to fork that slows the writers down the least."""
    return filled("best: {alternative text}, {slowdown number} times as long as undisturbed",
                  min((r for r in reference("snapshot.json")["results"]
                       if r["status"] == "ok" and r["alternative"] not in ("none", "fork")), key=lambda r: r["slowdown"]))


@block(PAGE, " question")
def question_block() -> str:
    """Returns the table for the question about time in the kernel after a snapshot by fork."""
    copied = [number(of_faults(snapshot_of(name)["faults"], "copies")) for name in ("fork_munmap", "fork")]
    return questions_table([
        ("the benchmark: threads write to an array, a child copies it in batches and unmaps each",
         "`zerotax snapshot --alternative fork_munmap`",
         f"the writers need {{{MUNMAP}/writers_wall_ns time}}, {{{MUNMAP}/slowdown number}} times as long as undisturbed"),
        ("the same without a snapshot (its macro left undefined)", "`zerotax snapshot --alternative none`",
         f"{{{NONE}/writers_wall_ns time}}"),
        ("the program as it was published: fork before the writers start, one pass, 28 writers, 4 threads that copy, 1 GiB",
         "`zerotax snapshot --published`",
         f"{{{PUBLISHED}/writers_wall_ns time}}, {{{PUBLISHED}/slowdown number}} times as long as without its fork; its munmap "
         "fails (28 threads on 2 CPUs)"),
        ("under some circumstances the copy is done before the writers are", "`zerotax snapshot --sweep usual`",
         reference("snapshot_sweep.json")["sentence"].rstrip(".")),
        ("placement on NUMA nodes", "`zerotax snapshot --sweep`", f"{NOT_HERE}: the machine has one node"),
        ("what htop shows: time in user mode and in the kernel", "`zerotax snapshot --plot`",
         f"the published program's child: {{{PUBLISHED}/child/user_ns time}} in user mode, "
         f"{{{PUBLISHED}/child/system_ns time}} in the kernel"),
        ("how can the faults after the child's end be avoided?", "`zerotax snapshot --remedies`", remedy_words()),
        ("what unmapping a batch early saves", "`zerotax snapshot`", f"{copied[0]} pages copied, {copied[1]} without"),
        ("is the copy complete before the writers are?", "`zerotax snapshot`",
         f"complete after {{{FORK}/snapshot_ns time}}; the writers need {{{FORK}/writers_wall_ns time}}"),
        ("is the time in the kernel after the child's end spent copying?", "`zerotax snapshot`",
         f"no: {{{FORK}/faults/after_end/copies count}} pages copied and {{{FORK}/faults/after_end/reuses count}} reused after "
         f"it; {{{FORK}/faults_held/after_end/copies count}} and {{{FORK}/faults_held/after_end/reuses count}} where all writes "
         "come after it"),
        ("what the kernel does until then (htop shows only that it is busy)", "`zerotax snapshot`",
         f"{{{FORK}/cpu/before_end/kernel_ns time}} in the kernel, "
         f"{{{FORK}/cpu/before_end/sections_ns/copy time}} of them copying"),
        ("a page that one process maps should not be copied", "`zerotax cow -- COMMAND`",
         "reuses are a class of their own, separate from copies"),
        ("how can it be avoided?", "`zerotax snapshot` (7 alternatives)", best_words()),
    ])


def child_copies(name: str) -> str:
    """Returns the number of pages that the children of an example of docs/cow.md copied."""
    return count_text(sum(p["counts"]["copies"] for p in reference(f"cow/{name}.json")["processes"] if p["parent"] != 0))


def growth(name: str) -> str:
    """Returns the resident memory of a child in the first and in the last interval in which it is known."""
    sizes = [p["rss_bytes"] for i in reference(f"cow/{name}.json")["intervals"] for p in i["processes"]
             if p["child"] and not isinstance(p["rss_bytes"], dict)]
    return f"{size_text(sizes[0])} at first, {size_text(sizes[-1])} at the end" if sizes else "n/a"


def copying_end(name: str) -> str:
    """Describes when an only child's copying ended, and how much new memory the child populated before and after."""
    ended = reference(f"cow/{name}.json")["copying_ended"]
    if "na" in ended:
        return f"n/a: {ended['na']}"
    return filled("{copies_until count} copies and {zero_fills_until count} pages of new memory in the first "
                  f"{number_text(ended['at_s'] - ended['child_from_s'])} s, {{copies_after count}} and "
                  "{zero_fills_after count} after that", ended)


def workers() -> str:
    """Returns the copies of each worker of the preforking server, in words."""
    children = [p for p in reference("cow/prefork.json")["processes"] if p["parent"] != 0]
    return ", ".join(count_text(p["counts"]["copies"]) for p in children) + " copies"


@block(PAGE, " tracing")
def tracing_block() -> str:
    """Returns the table for the article on a tool that shows copy-on-write faults live."""
    return questions_table([
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
         f"{child_copies('bigarray_ruby')} copies by the child"),
        ("the same in Python", "`zerotax cow --first-child -- python3 docs/examples/programs/bigarray.py`",
         f"{child_copies('bigarray_python')} copies by the child"),
        ("RSS and VSZ of both processes, from ps", "columns of each line, and `--json`",
         f"`bigarray.py`: the child's resident memory is {growth('bigarray_python')}"),
        ("copying ends where the child's memory begins to grow", "`copying_ended` of `zerotax cow --json`",
         f"`bigarray.py`: {copying_end('bigarray_python')}"),
        ("how much each worker of a preforking server copies",
         "`zerotax cow -- ./prefork` ([examples](../../docs/examples/programs/README.md))", workers()),
        ("scripts on top of the tracer", "`zerotax cow --json FILE --faults FILE`", "every fault is a line of JSON"),
        ("seeing into Ruby (and other interpreters)",
         "`zerotax cow --stacks`, `profile`, `record` ([record.md](../../docs/record.md))",
         "functions of CPython 3.12 and Node.js; Ruby 3.1 names none"),
    ])


def loop_of(allocator: str, size: int) -> dict:
    """Returns the result of one loop of docs/loop.md."""
    return next(r for r in reference("loop.json")["loops"] if (r["allocator"], r["size_bytes"]) == (allocator, size))


def loop_time(allocator: str, size: int, call: str) -> str:
    """Returns the total time of a loop, preceded by ~ if the time is an estimate."""
    loop = loop_of(allocator, size)[call]
    return ("~" if loop["estimated"] else "") + long_or_short(loop["wall_s"])


def long_or_short(seconds: float) -> str:
    """Returns a duration in whole seconds from 1 s on, and in a smaller unit below: 272 s, 151 ms."""
    return f"{count_text(round(seconds))} s" if seconds >= 1 else time_text(seconds * 1e9)


def rate_of(client: str, size: int) -> str:
    """Returns a template for the rate of a client of docs/loop.md, in MB/s."""
    return f"{{clients_2016.json results/[client={client},size_bytes={size}]/mb_per_s rate}}"


def threshold_range() -> str:
    """Returns the range of sizes in which largecache keeps and zeroes blocks, like the document's allocator."""
    every = [t for t in reference("thresholds.json")["thresholds"]
             if (t["allocator"], t["touch"], t["thread"]) == ("largecache", 0, "main")]
    low = next(t["at_bytes"] for t in every if any("memory that the allocator keeps" in c for c in t["changes"]))
    high = next(t["at_bytes"] for t in every if any("later callocs write no zeros" in c for c in t["changes"])
                and t["at_bytes"] > low)
    return f"from {count_text(low)} to {count_text(high - 1)} bytes"


@block(PAGE, " download")
def download_block() -> str:
    """Returns the table for the post on a slow download and on an operating system's calloc."""
    small, large = 100 * MIB, 1000 * MIB
    zeroing = loop_of("largecache", small)["zeroing"]
    folders = sum(path.is_dir() for path in (REFERENCE / "reports").iterdir())
    return questions_table([
        ("a download by HTTPS is slower the larger its chunks: 10 MB, 100 MB, 1 GB",
         "`zerotax clients --client requests_2016 --size 100MB`",
         ", ".join(rate_of("requests_2016", size) for size in (10_000_000, 100_000_000, 1_000_000_000))),
        ("it is the receive buffer, cleared again for each recv", "`zerotax clients --client cffi_1_9 --size 100MB`",
         f"{rate_of('cffi_1_9', 100_000_000)} with a cleared buffer, {rate_of('cffi_new', 100_000_000)} with calloc"),
        ("who clears it in a program", "`zerotax record -- COMMAND`", "call site by call site, with the script's function"),
        ("calloc as malloc and memset: time grows with the size", "`zerotax run --case malloc_loop --case calloc_loop`",
         "[time_vs_size](time_vs_size.png)"),
        ("1 GB of calloc costs as much as 1 GB of malloc", "`zerotax run --loop`",
         f"glibc, 10,000 of 1000 MiB: {loop_time('glibc', large, 'malloc')} and {loop_time('glibc', large, 'calloc')}"),
        ("the loop of 10,000 callocs of 100 MiB: instant on Linux", "`zerotax run --loop --allocator glibc`",
         loop_time("glibc", small, "calloc")),
        ("the same on macOS: almost eight minutes", "`zerotax run --loop --allocator largecache` (its large cache, rebuilt)",
         loop_time("largecache", small, "calloc")),
        ("1000 MiB instead: instant there, too", "`zerotax run --loop --allocator largecache`",
         loop_time("largecache", large, "calloc")),
        ("the cache takes blocks of 127 KB to 125 MB", "`zerotax thresholds --allocator largecache`", threshold_range()),
        ("what sample(1) showed: nearly all of it below bzero", "`zerotax profile --allocator largecache --size 100MiB`",
         r"{profile-largecache.txt /(\S+ %)  zeroing\n/} of the samples zero"),
        ("pages are cleared whether or not they were written to", "`zerotax findings`",
         f"{{{CACHE}/redundant_share whole_percent}} of what the loop zeroes is zero already"),
        ("how many cycles that takes", "`zerotax run --loop`",
         f"{long_or_short(zeroing['user_s'] + zeroing['kernel_s'])} of CPU time; cycles where the machine counts them"),
        ("how many context switches", "`zerotax run --loop`",
         count_text(round(zeroing["voluntary_switches"] + zeroing["involuntary_switches"]))),
        ("how much memory that nobody wrote to is paged in", "`zerotax run --loop`",
         f"{{{CACHE}/zeroing/faults whole}} page faults"),
        ("a report to the allocator's project", "`zerotax report --allocator NAME`",
         f"[{folders} folders of reports](reports)"),
    ])


def casper_section(process: dict, its: str) -> str:
    """Returns the time that a process's fork spent in a section of the paper, and the section's share of this fork."""
    sections = [s for s in process["samples"][0]["sections"] if s["casper"] == its]
    return f"{time_text(sum(s['ns'] for s in sections))}, {percent_text(sum(s['share'] for s in sections))}"


def lost_records() -> str:
    """Returns how many records were lost at 10 million records per second, with buffers in memory."""
    text = (REFERENCE / "benchmark-recorder.txt").read_text(encoding="utf-8")
    lines = text.split("in memory")[1].split("\n\n")[0].splitlines()
    lost = [int(line.split()[3]) for line in lines if " threads " in line]
    if not lost:
        raise SystemExit("benchmark-recorder.txt says nothing of records in memory")
    return f"{sum(lost)} lost at 10 million a second, in memory"


@block(PAGE, " casper")
def casper_block() -> str:
    """Returns the table for the paper on a tracer and the cost of fork."""
    small = reference("fork.json")["processes"][0]
    sections = [(f"Table I: {what}", "`zerotax fork`", casper_section(small, its)) for what, its in (
        ("search of the process table", "Search"), ("uballoc", "uballoc"), ("setuctxt", "setuctxt"),
        ("the loop of procdup", "procdup loop"), ("miscellaneous", "Miscellaneous"))]
    return questions_table([
        ("a clock of high resolution", "`zerotax trace run -- COMMAND`",
         f"{{{RECORD}zerotax +(\\S+)/}} ns a record; reading the clock and storing alone take "
         f"{{{RECORD}bare: .*stored +(\\S+)/}} ns"),
        ("event records that the developer defines, in a circular buffer, then in a file", "`ZEROTAX_EVENT`, `zerotax trace run`",
         lost_records()),
        ("a program that inserts records at entry and exit of functions", "`zerotax trace run --functions`, `trace functions`",
         f"{{{CALL}zerotax +(\\S+)/}} ns a call"),
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
         ", ".join(f"{{{of}/samples/0/mean_ns time}} ({{{of}/name text}})" for of in (SMALL, LARGE))),
        ("Table I: variance", "`zerotax fork`",
         "a 95 % interval for each section; mean and variance of each phase, by the kernel's own events"),
        ("Table II, and each proposal", "[fork.md](../../docs/fork.md), the paper's proposals",
         "each beside what Linux does today, with the reason"),
        ("the time grows with the process", "`zerotax fork`", reference("fork.json")["sentence"].replace("|", "/")),
        ("calls of the page-table allocator in a fork: six", "`zerotax fork`",
         f"{{{SMALL}/kernel_pages/pages number}} pages, {{{SMALL}/kernel_pages/zeroed_pages number}} of them cleared "
         f"({{{SMALL}/name text}} process)"),
        ("60 % of its time is clearing", "`zerotax fork`",
         f"{{{SMALL}/samples/0/clearing/text text}}, {{{SMALL}/samples/0/clearing/share percent}} of the fork"),
        ("contiguous allocations: two of thousands over a page", "`zerotax fork`",
         f"{{{SMALL}/kernel_pages/contiguous number}} in a fork"),
        ("shared page tables (the paper's last proposal)", "`zerotax fork`, predicted by its model",
         f"1 GiB: {{{SHARED}/fork_ns time}} today, {{{SHARED}/shared_ns time}} with them"),
        ("forks that are followed by exec", "`zerotax fork`",
         "1 GiB: " + ", ".join(f"{way} {{{WAYS}/[name={way}]/call_ns time}}" for way in ("fork", "vfork", "posix_spawn"))),
        ("needless faults on pages that nobody shares any more", "`zerotax snapshot`, `zerotax cow`",
         f"{{{FORK}/faults/after_end/reuses count}} reuses after the child's end"),
    ])
