"""The table of the planted allocators in tests/planted/proved."""

import csv
import pathlib

TABLE = pathlib.Path(__file__).parents[1] / "planted" / "proved" / "proved.tsv"


def names(verdict):
    """Returns the allocators with this verdict: `planted` (one mistake) or `correct`."""
    with open(TABLE, encoding="utf-8") as table:
        return [row["name"] for row in csv.DictReader(table, delimiter="\t") if row["verdict"] == verdict]
