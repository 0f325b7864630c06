#!/usr/bin/python3
"""Writes the page of a run: one HTML file with words, figures and tables that needs no other file and no network.

Usage: write_page.py RESULTS [--out FILE], where RESULTS is a results folder (what `zerotax study` or
`zerotax run --out DIR` wrote) or the file of `zerotax run --json FILE`. The page is
RESULTS/report.html, or report.html beside the file. Its summary is summary.json of the folder; without that file,
`zerotax findings --summary` makes it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any, Sequence

try:
    import jinja2
    from markupsafe import Markup, escape
except ModuleNotFoundError as missing:
    print(f"error: {missing}; install python3-jinja2 and use /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from page.advice import advice_part  # noqa: E402
from page.allocators import allocator_rows  # noqa: E402
from page.documents import documents_told, missing_parts  # noqa: E402
from page.documents import parts as document_parts  # noqa: E402
from page.environment import environment  # noqa: E402
from page.facts import full_names, link  # noqa: E402
from page.method import METHOD  # noqa: E402
from page.points import columns, failures, slim  # noqa: E402
from page.summary import summary  # noqa: E402
from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.output import is_page, named_path, write  # noqa: E402
from zerotax_plots.results import Results, read_run  # noqa: E402
from zerotax_plots.summary import rows_of, summary_of  # noqa: E402
from zerotax_plots.units import counted_text, size_text, whole_percent_text  # noqa: E402
from zerotax_plots.words import subtitle, unfinished  # noqa: E402

LIBRARY = Path("/usr/share/nodejs")  # the folder of Debian's node-d3-scale, node-d3-zoom and their dependencies
MODULES = [
    "array",
    "collection",
    "color",
    "format",
    "interpolate",
    "time",
    "time-format",
    "scale",
    "dispatch",
    "selection",
    "timer",
    "ease",
    "transition",
    "drag",
    "zoom",
]
PARTS = ["units", "elements", "state", "actions", "axis", "marks", "table", "frame", "chart", "heat", "lanes"]
SCRIPTS = [*PARTS, "data", "sizes", "main"]
MORE_RUNS = {
    "recv_buffer.json": ("recv_buffer", "recv_buffer_tcp"),
    "fork_after_calloc.json": ("fork_after_calloc", "fork_after_calloc_huge"),
}
MOST_FAILURES = 50
RECEIVING = "zerotax run --case recv_buffer --size 100MB --size 1000MB --json recv_buffer.json"
CONTENTS = [
    ("for-whom", "For a program that …"),
    ("findings", "Findings"),
    ("thresholds", "Thresholds"),
    ("figures", "More figures"),
    ("workloads", "Real programs"),
    ("receiving-part", "Receiving"),
    ("fork", "Fork"),
    ("snapshot", "Snapshot"),
    ("cow", "Page faults"),
    ("advise", "Advice"),
    ("failures", "Points without a result"),
    ("points", "Every point"),
    ("unmeasured", "Not measured"),
    ("environment", "Environment"),
    ("method", "Method"),
]


def library() -> str:
    """The modules of D3 that the page needs, with their licence; raises ResultsError when they are not installed."""
    texts = ["/*!\n" + (FOLDER / "d3-licence.txt").read_text(encoding="utf-8") + "*/"]
    for name in MODULES:
        path = LIBRARY / f"d3-{name}" / "dist" / f"d3-{name}.min.js"
        try:
            texts.append(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ResultsError(
                f"{path}: cannot be read ({error.strerror}); " "apt-get install node-d3-scale node-d3-zoom"
            ) from error
    return "\n;\n".join(texts)


def script(names: Sequence[str]) -> str:
    """All code of a page. Nothing in it may end the element that it stands in."""
    own = "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in names)
    return f"{library()}\n;(() => {{\n{own}}})();\n".replace("</script", "<\\/script").replace("<!--", "<\\!--")


def style() -> str:
    """All of the page's style."""
    return "".join((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "parts.css", "print.css"))


def fingerprint(text: str) -> str:
    """How a content security policy names a text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(data: Any) -> Markup:
    """JSON that can stand in a script element, whatever is in it."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704


def code_marked(text: str) -> Markup:
    """The text, escaped, with what is between two ` as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704


def rendered(template: str, scripts: Sequence[str], data: Any, **words: Any) -> str:
    """A page of this template, which extends base.html: with style, scripts and data in it, and a policy that names
    these and forbids every request."""
    code, look = script(scripts), style()
    policy = (
        f"default-src 'none'; script-src {fingerprint(code)}; style-src {fingerprint(look)}; "
        "base-uri 'none'; form-action 'none'"
    )
    loader = jinja2.FileSystemLoader(FOLDER)
    jinja = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    jinja.filters["code"] = code_marked
    jinja.filters["plain"] = lambda text: text.replace("`", "")
    jinja.filters["counted"] = counted_text
    jinja.filters["percent"] = whole_percent_text
    return jinja.get_template(template).render(
        policy=Markup(policy),
        style=Markup(look),
        script=Markup(code),
        data=embedded(data),
        library="d3-scale, d3-zoom and what they need",
        **words,
    )


def with_more_runs(results: Results, folder: Path) -> tuple[Results, dict[str, str]]:
    """The run, with the points of further runs of the folder in the place of its own of the same cases; and of which
    cases, from which file. A file that cannot be read is reported on stderr."""
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
    """The page of a run; the same results give the same text. `zerotax`: the command that makes a summary where the
    folder has none. Raises ResultsError when the results are unusable."""
    results, more = with_more_runs(*_read(source))
    folder = results.source.parent
    receives = any(case in results.cases for case in MORE_RUNS["recv_buffer.json"])
    parts = {
        **document_parts(folder, zerotax),
        "advise": advice_part(folder),
        "receiving-part": {"missing": "" if receives else "The case recv_buffer is not in it.", "command": RECEIVING},
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
        files=[
            results.source.name,
            *more_files(more),
            *[part["file"] for part in parts.values() if "file" in part],
        ],
    )


def more_files(more: dict[str, str]) -> list[str]:
    """The files that with_more_runs took points from."""
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
    """The command line; returns the exit status (0, or 2 for bad input)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "results", type=named_path, metavar="RESULTS", help="results folder, or the file of `zerotax run --json`"
    )
    parser.add_argument(
        "--out", type=named_path, metavar="FILE", help="where the page goes (default: report.html in the results folder)"
    )
    parser.add_argument(
        "--zerotax",
        type=named_path,
        metavar="FILE",
        help="the zerotax that summarises results without summary.json (default: the one built here, or on PATH)",
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
        what = f"a file in it does not match its schema ({type(error).__name__}: {error})"
        print(f"error: {given.results}: {what}; measure again, or delete what another program wrote", file=sys.stderr)
        return 2
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
