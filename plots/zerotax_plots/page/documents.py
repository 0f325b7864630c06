"""The documents beside a run, as parts of its page: thresholds, findings, fork, snapshot, faults.

A missing document becomes a sentence with the command that makes it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

from zerotax_plots import cow, fork, snapshot, workloads
from zerotax_plots.documents import notes_of, read_document, told
from zerotax_plots.files import ResultsError
from zerotax_plots.lanes import UNKNOWN, Lane, lanes_of, words_of
from zerotax_plots.looks import Style, darker
from zerotax_plots.page.facts import words
from zerotax_plots.page.findings import findings_part
from zerotax_plots.page.points import contrasting
from zerotax_plots.page.summary import Sentence
from zerotax_plots.units import number_text, plain_text, size_text, time_text, whole_percent_text

Part = dict[str, Any]
Makes = Callable[[dict[str, Any]], Part]
# The class of a piece of a lane in the page's style sheet. Classes differ in texture as well as in color.
PIECES = {"no_zeros_back": "back", "no_zeros_kept": "kept", "dirty": "dirty", "needless": "needless", UNKNOWN: "unknown"}
FAULT_LOOKS = {
    "copies": Style("#A9371F", "o", "-"),
    "reuses": Style("#0063A2", "s", (0, (5, 1.6))),
    "zero_fills": Style("#3E8A52", "^", (0, (1.6, 1.2))),
}
FAULT_NAMES = {"copies": "copies", "reuses": "reuses", "zero_fills": "zero-fills"}


def line(name: str, style: Style, xs: list[float], ys: list[float | None], **more: Any) -> Part:
    """Returns one line of a chart. None in the values is a gap."""
    return {
        "name": name,
        "colour": style.colour,
        "dark": contrasting(style.colour),
        "rim": darker(style.colour),
        "marker": style.marker,
        "dash": [] if style.dash == "-" else [2 * part for part in style.dash[1]],
        "fill": "full",
        "xs": xs,
        "ys": ys,
        **more,
    }


def _changes(document: dict[str, Any], lane: Lane) -> list[Part]:
    """Returns the thresholds of a lane, with the changes at each threshold in the words of the document."""
    return [
        {
            "at": entry["at_bytes"],
            "changes": entry["changes"],
            "exact": entry["exact"],
            "noisy": entry["noisy"],
            "steady": entry.get("steady", True),
        }
        for entry in sorted(document["thresholds"], key=lambda entry: entry["at_bytes"])
        if (entry["allocator"], entry["touch"], entry["thread"]) == (lane.allocator, lane.touch, lane.thread)
    ]


def thresholds_part(document: dict[str, Any]) -> Part:
    """Returns the lanes of the map, each with its pieces and marks."""
    lanes = lanes_of(document)
    versions = {raw["allocator"]: raw["version"] for raw in document["lanes"]}
    made = []
    for lane in lanes:
        version = versions[lane.allocator]
        made.append(
            {
                "id": f"{lane.name}/{plain_text(lane.touch)}/{lane.thread}",
                "name": lane.name,
                "touch": lane.touch,
                "thread": lane.thread,
                "version": version if isinstance(version, str) else "",
                "label": lane.label(),
                "pieces": [[low, high, PIECES[kind]] for low, high, kind in lane.pieces],
                "ticks": [[tick.at, tick.steady, tick.doubtful] for tick in lane.ticks],
                "changes": _changes(document, lane),
            }
        )
    words = words_of(document)
    return {
        "lanes": made,
        "names": {kind: words[word] for word, kind in PIECES.items() if word in words},
        "sentence": told(document),
    }


def fork_part(document: dict[str, Any]) -> Part:
    """Returns the shares of fork by section, and its time against populated memory."""
    sections = []
    for name, shares in fork.bars(document):
        process, _, time = name.partition("\n")
        sections.append(
            {
                "name": process,
                "time": time,
                "shares": [
                    {"name": "not in the paper" if section == "-" else section, "share": share, "place": n}
                    for n, (section, share) in enumerate(shares.items())
                ],
            }
        )
    lines = []
    for kind, name, style in (
        ("private", fork.private_pages(document), Style("#0063A2", "o", "-")),
        ("huge", "huge pages", Style("#C85300", "^", (0, (5, 1.6)))),
    ):
        places = fork.places(document, kind)
        if places:
            lines.append(line(name, style, [size for size, _, _ in places], [ns for _, ns, _ in places]))
    chart = {
        "x": "bytes",
        "y": "time",
        "xname": "populated memory",
        "yname": "time of fork()",
        "lines": lines,
        "xlog": True,
        "ylog": True,
    }
    ways = document.get("ways") if isinstance(document.get("ways"), dict) else None
    told = ways.get("ways") if ways else None
    return {
        "sentence": fork.title(document) + ".",
        "sections": sections,
        "chart": chart if lines else None,
        "ways": [
            {"name": way["name"], **{key: words(way[f"{key}_ns"], time_text) for key in ("call", "gone")}} for way in told or []
        ],
        "ways_bytes": size_text(ways["populated_bytes"]) if told else "",
    }


def snapshot_part(document: dict[str, Any]) -> Part:
    """Returns the cost of each alternative, and the parent's faults over time with fork."""
    marks = {mark.name: mark for mark in snapshot.marks(document)}
    most = max([mark.slowdown for mark in marks.values()], default=1.0)
    summaries = {each["name"]: each["summary"] for each in document["alternatives"]}
    rows = []
    for result in snapshot.chosen(document):
        mark = marks.get(result["alternative"])
        rows.append(
            {
                "name": result["alternative"],
                "summary": summaries.get(result["alternative"], ""),
                "why": snapshot.without_mark(result),
                "slowdown": number_text(mark.slowdown) if mark else "",
                "of": mark.slowdown / most if mark else 0,
                "memory": "n/a" if not mark or mark.share is None else whole_percent_text(mark.share),
                "stopped": time_text(mark.stopped_ns) if mark else "",
            }
        )
    part = {
        "sentence": snapshot.title(document) + ".",
        "rows": rows,
        "chart": None,
        "array": size_text(document["parameters"]["array_bytes"]),
        "allocator": document["results"][0]["allocator"],
    }
    forked = next((r for r in snapshot.chosen(document) if r["alternative"] == "fork" and r["status"] == "ok"), None)
    if forked and snapshot.available(forked["faults"]):
        found = forked["faults"]["timeline"]
        xs = [(n + 1) * found["bin_ns"] / 1e6 for n in range(len(found["bins"]))]
        part["chart"] = {
            "x": "ms",
            "y": "count",
            "xname": "milliseconds after the instant of the snapshot",
            "yname": f"the parent's faults in {plain_text(found['bin_ns'] / 1e6)} ms",
            "xlog": False,
            "ylog": False,
            "lines": [
                line(FAULT_NAMES[key], style, xs, [each[key] for each in found["bins"]])
                for key, style in FAULT_LOOKS.items()
            ],
        }
    return part


def cow_part(document: dict[str, Any]) -> Part:
    """Returns the faults of the parent and of its children for each interval."""
    intervals = document["intervals"]
    ends = [interval["to_s"] * 1e3 for interval in intervals]
    lines = []
    for child, whose in cow.SIDES.items():
        for key, style in FAULT_LOOKS.items():
            values = cow.counts(intervals, child, key)
            if any(values):
                look = style._replace(marker="D" if child else style.marker, dash=(0, (3, 1, 1, 1)) if child else style.dash)
                lines.append(line(f"{FAULT_NAMES[key]}, {whose}", look, ends, values))
    chart = {
        "x": "ms",
        "y": "count",
        "xname": "milliseconds since the watch began",
        "lines": lines,
        "xlog": False,
        "yname": f"faults in {plain_text(document['interval_s'] * 1e3)} ms",
        "ylog": True,
    }
    return {"sentence": cow.title(document) + ".", "notes": notes_of(document), "chart": chart if lines else None}


def workloads_part(document: dict[str, Any]) -> Part:
    """Returns tables of workloads and allocators."""
    tables = []
    for caption, value, text in (
        ("Zeros that kernel and allocator wrote", workloads.zeros, size_text),
        ("Part refilled by the kernel, in place of memory that was returned before", workloads.refilled, size_text),
        ("Most memory held", workloads.peak, size_text),
        ("CPU time", workloads.cpu, time_text),
    ):
        rows = [
            {"name": name, "values": ["n/a" if each is None else text(each) for each in values]}
            for name, values in workloads.matrix(document, value)
        ]
        tables.append({"caption": caption, "rows": rows})
    return {"sentence": document["sentence"], "names": workloads.names(document), "tables": tables}


# File, schema, the function that makes the part, and the command that makes the file.
DOCUMENTS: dict[str, tuple[str, str, Makes, str]] = {
    "findings": ("findings.json", "zerotax.findings/1", findings_part, "zerotax findings . --json findings.json"),
    "thresholds": ("thresholds.json", "zerotax.thresholds/1", thresholds_part, "zerotax thresholds --json thresholds.json"),
    "workloads": (workloads.FILE, workloads.SCHEMA, workloads_part, "zerotax replay FOLDER --json workloads.json"),
    "fork": (fork.FILE, fork.SCHEMA, fork_part, "zerotax fork --json fork.json"),
    "snapshot": (snapshot.FILE, snapshot.SCHEMA, snapshot_part, "zerotax snapshot --json snapshot.json"),
    "cow": (cow.FILE, cow.SCHEMA, cow_part, "zerotax cow --json cow.json -- PROGRAM"),
}


def parts(folder: Path, zerotax: Path | None = None) -> dict[str, Part]:
    """Returns a part for each document: its content, or {"missing": reason, "command": the command that makes it}.

    A file that exists but cannot be read counts as missing, and the page is still made.
    """
    made: dict[str, Part] = {}
    for name, (file, schema, make, command) in DOCUMENTS.items():
        path = folder / file
        remedy = {"command": command}
        if not path.is_file():
            made[name] = {"missing": f"{file} is not in this folder.", **remedy}
            continue
        try:
            document = read_document(path, schema, "write it with this version", zerotax)
            made[name] = {**make(document), "missing": "", "file": file, "started": str(document.get("started", ""))}
        except ResultsError as error:
            made[name] = {"missing": f"{error}.", **remedy}
        except (KeyError, TypeError, AttributeError, ValueError, StopIteration, IndexError) as error:
            made[name] = {"missing": f"{file} does not match its schema ({type(error).__name__}: {error}).", **remedy}
    return made


def documents_told(made: dict[str, Part]) -> list[Sentence]:
    """Returns the sentences of the documents beside the run for two audiences: authors of programs that fork, and
    maintainers.
    """

    def of(subject: str, name: str, where: str) -> Sentence:
        part = made[name]
        if part["missing"]:
            return Sentence(subject, f"Not measured: run `{part['command']}`.", f"#{name}", part["command"])
        return Sentence(subject, part["sentence"] or "See the figure.", where)

    snapshot_told = [] if made["snapshot"]["missing"] else [of("Takes snapshots by fork", "snapshot", "#snapshot")]
    return [
        of("Forks with much memory", "fork", "#fork"),
        *snapshot_told,
        of("Is an allocator itself", "thresholds", "#thresholds"),
    ]


NAMES = {
    "findings": "Findings",
    "thresholds": "Thresholds",
    "workloads": "Real programs",
    "receiving-part": "Receiving",
    "fork": "Fork",
    "snapshot": "Snapshot",
    "cow": "Page faults",
    "advise": "Advice",
}


def missing_parts(made: dict[str, Part]) -> list[Part]:
    """Returns a line for each missing part, with the command that makes the part."""
    return [
        {"id": name, "name": NAMES[name], "why": made[name]["missing"], "command": made[name]["command"]}
        for name in NAMES
        if made[name]["missing"]
    ]
