"""docs/receiving.md: receive buffers, in the case and in Python's clients."""
from __future__ import annotations

from reference_text import machine, of_allocators, or_na, reference, table
from zerotax_plots.units import given_size_text, number_text

PAGE = "docs/receiving.md"
SIZES = [16 << 10, 100_000_000, 128 << 20, 1000 << 20]
LARGE = SIZES[1]


def rate(figure: float | dict) -> str:
    """A rate to three digits, or n/a."""
    return or_na(figure, number_text)


def case_block() -> str:
    """MB/s of the case recv_buffer, and what is zeroed for each byte."""
    run = reference("recv_buffer.json")
    transfer = {(p["allocator"], p["size_bytes"]): p["transfer"] for p in run["points"] if p["case"] == "recv_buffer"}
    rows = [[name, *(rate(transfer[name, size]["mb_per_s"]) for size in SIZES),
             rate(transfer[name, LARGE]["cpu_s_per_gb"]), rate(transfer[name, LARGE]["zeroed_per_received_byte"])]
            for name in of_allocators(run["points"])]
    head = ["MB/s received by TLS", *map(given_size_text, SIZES), "CPU s/GB", "zeroed"]
    return (f"{table(head, rows)}\n\n(CPU s/GB and zeroed are for 100 MB; zeroed is in bytes for each byte received)\n\n"
            f"{machine(run, '../')}")


def clients_block() -> str:
    """MB/s of the clients at 100 MB."""
    run = reference("clients.json")
    names = [client["name"] for client in run["clients"]]
    found = {(r["allocator"], r["client"]): r["mb_per_s"] for r in run["results"] if r["size_bytes"] == LARGE}
    rows = [[name, *(rate(found[name, client]) for client in names)] for name in of_allocators(run["points"])]
    versions: dict[str, str] = {}
    for result in run["results"]:
        if "na" not in result["versions"]:
            versions.update(result["versions"])
    said = ", ".join(f"{name} {version}" for name, version in sorted(versions.items(), key=lambda v: v[0].lower()))
    return f"{table([f'MB/s, {given_size_text(LARGE)}', *names], rows)}\n\n({said}; the same machine)"


def download_block() -> str:
    """requests_2016 beside what was published, and how long a download of 1 GB takes at that rate."""
    published = {10_000_000: "no effect", 100_000_000: "below 1 MB/s", 1_000_000_000: "below 100 KB/s"}
    run = reference("clients_2016.json")
    rows = []
    for result in run["results"]:
        if result["client"] == "requests_2016":
            speed, size = result["mb_per_s"], result["size_bytes"]
            rows.append([given_size_text(size), published[size], f"{number_text(speed)} MB/s",
                         long_time_text(1000 / speed)])
    head = ["requests_2016, glibc", "published in 2016", "measured", "1 GB at this rate"]
    return f"{table(head, rows)}\n\n(the same machine)"


def long_time_text(seconds: float) -> str:
    """A duration that a person waits for: 28 s, 1.5 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


BLOCKS = {
    "results/reference/recv_buffer.json": case_block,
    "results/reference/clients.json": clients_block,
    "results/reference/clients_2016.json": download_block,
}
