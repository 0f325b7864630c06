#!/usr/bin/python3
"""Checks results against results/schema: one line per problem, and exit status 2 if there are any.

Usage: validate.py RESULTS, a results folder or the file of `zerotax run --json` or
`zerotax thresholds --json`.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any, Iterator

from zerotax_plots.files import ResultsError, parse_json, read_text, split_lines
from zerotax_plots.results import SCHEMA

SCHEMAS = Path(__file__).resolve().parent.parent / "results" / "schema"
THRESHOLDS = "zerotax.thresholds/1"
LONGEST = 200   # largest number of characters in a message, because some messages quote the whole document


def validator(name: str, folder: Path = SCHEMAS) -> Any:
    """Returns a jsonschema validator for "run", "point", "plan" or "thresholds". All schemas are read from the folder,
    and references are resolved by $id within it, so nothing is fetched.
    """
    try:
        import jsonschema
    except ImportError as error:
        raise ResultsError("the module jsonschema is missing; install python3-jsonschema and use "
                           "/usr/bin/python3") from error
    schemas = [json.loads(path.read_text(encoding="utf-8"))
               for path in sorted(folder.glob("*.schema.json"))]
    store = {schema["$id"]: schema for schema in schemas}
    schema = store[f"{name}.schema.json"]
    resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def _innermost(error: Any) -> Any:
    """Returns the most relevant error behind "is not valid under any of the given schemas". A metric is a number or
    {"na": …}, so the most relevant alternative is the one with the given value's type.
    """
    while error.validator == "anyOf" and error.context:
        own = [e for e in error.context if e.validator != "type" or len(e.relative_path)]
        if not own:
            break
        error = max(own, key=lambda e: (len(e.relative_path), e.validator != "required"))
    return error


def _message(error: Any) -> str:
    """Returns one line for an error of the schema, with the location of the error in the document."""
    error = _innermost(error)
    place = ".".join(str(part) for part in error.absolute_path) or "document"
    text = " ".join(error.message.split())
    if error.validator == "oneOf":
        text = "needs either points or points_file, and not both"
    elif error.validator == "anyOf":
        text = f"{json.dumps(error.instance)[:60]} is neither a figure nor {{\"na\": \"why\"}}"
    return f"{place}: {text if len(text) <= LONGEST else text[:LONGEST - 1] + '…'}"


def check(document: Any, name: str) -> list[str]:
    """Returns the problems of a parsed document under the schema of that name."""
    return [_message(error) for error in validator(name).iter_errors(document)]


def _check_lines(path: Path) -> Iterator[str]:
    lines, cut = split_lines(read_text(path))
    checker = validator("point")
    for number, line in lines:
        try:
            problems = [_message(error) for error in checker.iter_errors(parse_json(line))]
        except ValueError as error:
            problems = [f"not JSON ({error})"]
        for problem in problems:
            yield f"{path}:{number}: {problem}"
    if cut is not None:
        yield f"{path}:{cut}: the line is cut short"


def problems_of(source: Path) -> Iterator[str]:
    """Yields the problems of a results folder or a `--json` file, one line each.

    Raises ResultsError if there is nothing to check or jsonschema is missing.
    """
    path = source / "run.json" if source.is_dir() else source
    try:
        run = parse_json(read_text(path))
    except ValueError as error:
        yield f"{path}: not JSON ({error})"
        return
    schema = run.get("schema") if isinstance(run, dict) else None
    if schema == THRESHOLDS and not source.is_dir():
        for problem in check(run, "thresholds"):
            yield f"{path}: {problem}"
        return
    if schema != SCHEMA:
        yield f"{path}: its schema is {schema!r}, but this script checks {SCHEMA!r}"
        return
    for problem in check(run, "run"):
        yield f"{path}: {problem}"
    file = run.get("points_file")
    if isinstance(file, str) and file == Path(file).name:
        yield from _check_lines(path.parent / file)
    plan = path.parent / "plan.json"
    if source.is_dir() and plan.exists():
        for problem in check(parse_json(read_text(plan)), "plan"):
            yield f"{plan}: {problem}"
    for name in ("thresholds", "findings"):
        beside = path.parent / f"{name}.json"
        if not source.is_dir() or not beside.exists():
            continue
        try:
            for problem in check(parse_json(read_text(beside)), name):
                yield f"{beside}: {problem}"
        except ValueError as error:
            yield f"{beside}: not JSON ({error})"


def main(arguments: list[str]) -> int:
    """Prints the problems of the given results, and returns the exit status."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    found = False
    try:
        for problem in problems_of(Path(arguments[0])):
            print(problem)
            found = True
    except ResultsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 2 if found else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)   # a closed pipe, as after `| head`, is not an error
    sys.exit(main(sys.argv[1:]))
