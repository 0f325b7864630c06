"""docs/contract.md: where the promises were tested, and what is not kept everywhere."""
from __future__ import annotations

from reference_text import REFERENCE, reference, rows_table

PAGE = "docs/contract.md"
SHORT = {"kept": "kept", "broken": "**broken**", "unsupported": "no", "not testable here": "n/a"}


def places_table(places: dict, found: dict) -> str:
    """One row for each place: which kernel, and how many promises have each verdict."""
    rows = []
    for name, told in places.items():
        if name not in found:
            rows.append([f"`{name}`", told["what"], "n/a: " + told["na"], "", "", "", ""])
            continue
        counts, system = found[name]["counts"], found[name]["tested_on"]
        rows.append([f"`{name}`", told["what"], f"{system['kernel']}, {system['machine']}",
                     *(str(counts[key]) for key in ("kept", "broken", "unsupported", "not_testable_here"))])
    return rows_table(["place", "what it is", "kernel, machine", "kept", "broken", "unsupported", "not testable"], rows)


def differences_table(found: dict) -> str:
    """The promises that are not kept everywhere."""
    verdicts = {name: {row["id"]: row["verdict"] for row in document["promises"]} for name, document in found.items()}
    ids = list(next(iter(verdicts.values())))
    differing = [promise for promise in ids if any(of.get(promise) != "kept" for of in verdicts.values())]
    columns: dict[tuple[str, ...], list[str]] = {}  # places that agree share one
    for name, of in verdicts.items():
        columns.setdefault(tuple(SHORT[of.get(promise, "not testable here")] for promise in differing), []).append(f"`{name}`")
    rows = [[f"`{promise}`", *cells] for promise, cells in zip(differing, zip(*columns))]
    return rows_table(["promise", *(", ".join(names) for names in columns.values())], rows)


def broken_list(found: dict) -> str:
    """The details of each broken promise, once for all places that found it."""
    places: dict[tuple[str, str], list[str]] = {}
    for name, document in found.items():
        for row in document["promises"]:
            if row["verdict"] == "broken":
                places.setdefault((row["id"], row["detail"]), []).append(f"`{name}`")
    return "\n".join(f"- `{promise}`, in {' and '.join(names)}: {detail.replace(': it succeeded', ' succeeded')}"
                     for (promise, detail), names in places.items())


def contract_block() -> str:
    """Every place, what is not kept everywhere, and what is broken."""
    places = reference("contract/places.json")
    found = {name: reference(f"contract/{name}.json") for name in places
             if (REFERENCE / "contract" / f"{name}.json").exists()}
    kept_everywhere = len(next(iter(found.values()))["promises"]) - (differences_table(found).count("\n") - 1)
    first = next(iter(found.values()))
    return (f"{places_table(places, found)}\n\n{kept_everywhere} promises are kept in all of them. The others:\n\n"
            f"{differences_table(found)}\n\n{broken_list(found)}\n\n"
            f"Measured {first['started'][:10]}; the documents are in "
            "[results/reference/contract](../results/reference/contract).")


BLOCKS = {"results/reference/contract": contract_block}
