#!/usr/bin/python3
"""Writes the page of a run: one HTML file with words, figures and tables that needs no other file and no network.

Usage: write_page.py RESULTS [--out FILE], where RESULTS is a results folder (what `zerotax study` or
`zerotax run --out DIR` wrote) or the file of `zerotax run --json FILE`. The page is
RESULTS/report.html, or report.html beside the file. The summary is summary.json of the folder; without that file,
`zerotax findings --summary` makes it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Sequence

from zerotax_plots.files import ResultsError
from zerotax_plots.output import is_page, named_path, write
from zerotax_plots.page.advice import advice_part
from zerotax_plots.page.allocators import allocator_rows
from zerotax_plots.page.documents import documents_told, missing_parts
from zerotax_plots.page.documents import parts as document_parts
from zerotax_plots.page.facts import full_names, link
from zerotax_plots.page.points import columns, failures, slim
from zerotax_plots.page.rendering import PARTS, rendered
from zerotax_plots.page.summary import summary
from zerotax_plots.results import Results, read_run
from zerotax_plots.summary import rows_of, subtitle, summary_of, unfinished
from zerotax_plots.units import number_text, size_text

SCRIPTS = [*PARTS, "data", "sizes", "main"]
MORE_RUNS = {
    "recv_buffer.json": ("recv_buffer", "recv_buffer_tcp"),
    "fork_after_calloc.json": ("fork_after_calloc", "fork_after_calloc_huge"),
}
MOST_FAILURES = 50
RECEIVING = "zerotax run --case recv_buffer --size 100MB --size 1000MB --json recv_buffer.json"
CONTENTS = [
    ("for-whom", "For a program that …"), ("findings", "Findings"), ("thresholds", "Thresholds"), ("figures", "More figures"),
    ("workloads", "Real programs"), ("receiving-part", "Receiving"), ("fork", "Fork"), ("snapshot", "Snapshot"),
    ("cow", "Page faults"), ("advise", "Advice"), ("failures", "Points without a result"), ("points", "Every point"),
    ("unmeasured", "Not measured"), ("environment", "Environment"), ("method", "Method")]
# The rows of the section on method: name, measurement, limits. docs/method.md explains the whole method.
METHOD = [
    ("Points",
     "Each point (allocator, configuration, case, size, touch, thread) runs in processes of its own. Counts and times "
     "come from separate runs. Metrics describe the later operations, when behavior has settled; the first "
     "call of a process is listed separately.",
     "anything about another machine, kernel or version. Times compare only within one run."),
    ("Times",
     "CLOCK_MONOTONIC, read right before and right after the call: the median over the operations, with the 5th and "
     "95th percentile. Reading the clock is part of each time.",
     "the cost of a call while other threads are busy: nothing else runs."),
    ("Page faults",
     "Minor faults of the thread, by getrusage, read outside the timed windows.",
     "a number of pages: with huge pages, one fault populates many."),
    ("Bytes zeroed",
     "Calls of memset and similar functions inside calloc, intercepted in every loaded object, exact to the byte; and "
     "pages of the block that inline stores filled, found by the kernel's page tables and write tracking, exact to the page.",
     "that an inline store wrote each byte of a page; zeroing in free or on another thread is not counted."),
    ("Needlessly",
     "The zeroed bytes that were already zero: in pages that were not populated, or were populated and all zero.",
     "that the allocator could have known this: it may not track which freed memory is still zero."),
    ("Thresholds",
     "A search for changes of calloc's behavior (zeroing, system calls, placement of the block), by halving the range "
     "until two neighboring sizes differ.",
     "that nothing changes between two neighboring sizes of the grid that behave alike."),
    ("Receiving",
     "Megabytes per second of a TLS client on this machine into a buffer from calloc, without any meter.",
     "the effect of a network."),
    ("Fork and snapshot",
     "Sections by sampling the kernel against a clock around the system call; faults by the kernel's own events; times"
     " in runs without any meter.",
     "anything about a program that computes between its writes."),
    ("Missing metrics",
     "A metric that could not be measured is n/a with its reason, never 0; a failed point has no "
     "metrics.",
     "that the metric would have been small."),
]


def environment(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the rows of the table: name, and the value or the reason why the value is unknown."""
    rows = [("started", str(run.get("started", "not known"))), ("command", " ".join(map(str, run.get("command", []))))]

    def add(name: str, value: Any) -> None:
        if isinstance(value, dict) and set(value) == {"na"}:
            rows.append((name, f"n/a: {value['na']}"))
        elif isinstance(value, dict):
            for key, each in value.items():
                add(f"{name}: {key}", each)
        elif isinstance(value, list):
            rows.append((name, ", ".join(number_text(v) if isinstance(v, float) else str(v) for v in value)))
        elif isinstance(value, bool):
            rows.append((name, "yes" if value else "no"))
        else:
            rows.append((name, size_text(value) if name.endswith("bytes") and value else str(value)))

    for name, value in run.get("environment", {}).items():
        add(name, value)
    for allocator in run.get("allocators", []):
        settings = " ".join(f"{k}={v}" for k, v in (allocator.get("env") or {}).items())
        version = allocator.get("version")
        words = [version if isinstance(version, str) else "version not known", allocator.get("preload") or "built in", settings]
        rows.append((f"allocator: {allocator.get('name', '')}", ", ".join(word for word in words if word)))
    return rows


def with_more_runs(results: Results, folder: Path) -> tuple[Results, dict[str, str]]:
    """Returns the run and the file of each replaced case. If the folder has further runs, their points replace the
    run's points of the same cases. A file that cannot be read is reported on stderr.
    """
    cases, told = dict(results.cases), {}
    for file, names in MORE_RUNS.items():
        path = folder / file
        if not path.is_file() or path == results.source:
            continue
        try:
            more = read_run(path, slim)
        except ResultsError as error:
            print(f"warning: {error}", file=sys.stderr)
            continue
        for name in names:
            if more.cases.get(name):
                cases[name] = more.cases[name]
                told[name] = f"{file}, measured {str(more.run.get('started', ''))[:10]}"
    return Results(results.source, results.run, [], cases), told


def page(source: str | Path, zerotax: Path | None = None) -> str:
    """Returns the page of a run. The same results always give the same text. `zerotax` is the command that makes a
    summary if the folder has none. Raises ResultsError if the results are unusable.
    """
    results, more = with_more_runs(*_read(source))
    folder = results.source.parent
    receives = any(case in results.cases for case in MORE_RUNS["recv_buffer.json"])
    parts = {
        **document_parts(folder, zerotax),
        "advise": advice_part(folder),
        "receiving-part": {"missing": "" if receives else "The results lack the case recv_buffer.", "command": RECEIVING},
    }
    words = summary(results.source, zerotax)
    words["for_whom"] = [*words["for_whom"], *documents_told(parts)]
    names = full_names(results)
    failed = [{**f, "size_text": size_text(f["size"])} for f in failures(results, lambda key: names[key])]
    summaries = [words["document"], *(_summary_or_none(folder / file, zerotax) for file in more_files(more))]
    judged = [document for document in summaries if document]
    points = columns(results, {place: row for document in judged for place, row in rows_of(document).items()})
    head = [line for line in subtitle(results) if line]
    data = {
        "points": points,
        "touches": {name: word for document in judged for name, word in document["touches"].items()},
        "thresholds": parts["thresholds"],
        "at": words["at"],
        "run": head[0] if head else "",
        **{name: parts[name].get("chart") for name in ("fork", "snapshot", "cow")},
    }
    missing = missing_parts(parts)
    absent = {each["id"] for each in missing}
    absent |= {id for id, there in (("failures", failed), ("unmeasured", missing)) if not there}
    told_unfinished = any(each.subject == "Not complete" for each in words["warning"])
    return rendered(
        "page.html",
        SCRIPTS,
        data,
        title=str(results.run.get("started", ""))[:10] or "a run",
        run_line=head[0] if head else "",
        contents=[(id, name) for id, name in CONTENTS if id not in absent],
        summary=words,
        allocators=allocator_rows(words["document"], parts["thresholds"]),
        parts=parts,
        missing=missing,
        failures=failed,
        most_failures=MOST_FAILURES,
        environment=environment(results.run),
        method=METHOD,
        unfinished="" if told_unfinished else " ".join(unfinished(results)),
        receives=f" From {more['recv_buffer']}." if "recv_buffer" in more else " " if receives else "",
        fork_after_calloc=link("time", "fork_after_calloc", **{"time.f": "fork_ns"})
        if "fork_after_calloc" in results.cases
        else "",
        files=[results.source.name, *more_files(more), *[part["file"] for part in parts.values() if "file" in part]],
    )


def more_files(more: dict[str, str]) -> list[str]:
    """Returns the files from which with_more_runs took points."""
    return sorted({told.split(",")[0] for told in more.values()})


def _summary_or_none(source: Path, zerotax: Path | None) -> dict[str, Any] | None:
    try:
        return summary_of(source, zerotax)
    except ResultsError:
        return None


def _read(source: str | Path) -> tuple[Results, Path]:
    results = read_run(source, slim)
    return results, results.source.parent


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit status (0, or 2 for bad input)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "results", type=named_path, metavar="RESULTS", help="results folder, or the file of `zerotax run --json`"
    )
    parser.add_argument(
        "--out", type=named_path, metavar="FILE", help="path of the page (default: report.html in the results folder)"
    )
    parser.add_argument(
        "--zerotax",
        type=named_path,
        metavar="FILE",
        help="the zerotax command that summarizes results without summary.json (default: the one built here, or on PATH)",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that zerotax did not write")
    given = parser.parse_args(argv)
    folder = given.results if given.results.is_dir() else given.results.parent
    out = given.out or folder / "report.html"
    try:
        write(out, page(given.results, given.zerotax).encode(), is_page, force=given.force)
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"a file of the results does not match its schema ({type(error).__name__}: {error})"
        print(f"error: {given.results}: {what}; measure again, or delete what another program wrote", file=sys.stderr)
        return 2
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
