"""The summary of a run in plain words, made from its points: what was found, for whom, and who is slow when."""

from __future__ import annotations

from typing import NamedTuple

from page.facts import Span, Tax, calloc_ns, full_names, furthest_apart, link, taxes
from zerotax_results import Na, Point, Results
from zerotax_sums import whole_time
from zerotax_units import count_text, given_size_text, rate_text, ratio_text, size_text, time_text
from zerotax_words import sentence

MOST_SPANS = 4  # told one by one in a sentence


class Sentence(NamedTuple):
    """What is found, whom it is about or for, and the fragment of the page that shows it, if one does."""

    subject: str
    text: str
    href: str | None = None


def times_text(ratio: float) -> str:
    """A ratio of 1 or more as words: "1.3 times", "about as much", "1,700,000 times"."""
    return "about as much" if ratio < 1.05 else f"{ratio_text(ratio)} times"


def spans_text(spans: list[Span]) -> str:
    """ "64 KiB to 28 MiB, and 100 MiB"; of many spans the first few."""
    texts = [
        size_text(low) if low == high else f"{size_text(low)} to {size_text(high)}"
        for low, high in spans
    ]
    if len(texts) > MOST_SPANS:
        texts = [*texts[:MOST_SPANS], f"{len(texts) - MOST_SPANS} more ranges"]
    return listed(texts)


def listed(names: list[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def lead(results: Results, found: list[Tax]) -> list[Sentence]:
    """The two sentences that matter most: how far apart the allocators are, and how many pay for nothing."""
    names = full_names(results)
    untouched = [p for p in results.cases.get("calloc_loop", []) if p.touch == 0 and p.key.thread == "main"]
    told = []
    apart = furthest_apart(untouched, calloc_ns)
    if apart:
        size, (fast, first), (slow, last) = apart
        told.append(
            Sentence(
                "How far apart they are",
                (
                    f"One calloc of {size_text(size)} that nobody writes to takes {time_text(fast)} with "
                    f"{names[first]} and {time_text(slow)} with {names[last]}: {times_text(slow / fast)}"
                    f"{'' if slow / fast < 1.05 else ' as long'}."
                ),
                link("time", size=size),
            )
        )
    judged = [tax for tax in found if tax.sizes]
    if judged:
        every = [tax.name for tax in judged if tax.paying == [(tax.sizes[0], tax.sizes[-1])]]
        none = [tax.name for tax in judged if not tax.paying]
        some = [tax.name for tax in judged if tax.paying and tax.name not in every]
        parts = [
            f"{len(names)} ({listed(names)}) {where}"
            for names, where in ((every, "at every size measured"), (some, "at some sizes"), (none, "at none"))
            if names
        ]
        told.append(
            Sentence(
                "Who pays for nothing",
                (
                    f"Of {len(judged)} allocator{'s' * (len(judged) != 1)}, so many write zeros over memory that was "
                    f"zero already, though the program wrote nothing: {listed(parts)}."
                ),
                link("heat"),
            )
        )
    return told


def broken(results: Results) -> list[Sentence]:
    """Broken promises come first: memory that was not zero, crashes, and the like, by allocator."""
    names = full_names(results)
    words = {
        "not_zero": "handed out memory that was not all zero",
        "misaligned": "handed out blocks that were not aligned for every type",
        "crashed": "crashed",
        "timeout": "did not end in time",
        "failed": "failed",
        "skipped": "was left out",
    }
    told = []
    for status, text in words.items():
        by: dict[str, list[Point]] = {}
        for points in results.cases.values():
            for point in points:
                if point.status == status:
                    by.setdefault(names[point.key], []).append(point)
        for name in sorted(by):
            first = min(by[name], key=lambda p: p.size)
            others = len(by[name]) - 1
            more = f", and at {others} more point{'s' * (others != 1)}" if others else ""
            told.append(
                Sentence(
                    name,
                    f"{text} at {size_text(first.size)}{more}: {first.reason or 'no reason given'}.",
                    "#failures",
                )
            )
    return told


def who_pays(tax: Tax) -> Sentence:
    """When one allocator is slow, and by how much."""
    if not tax.sizes:
        text = "It is not known what it zeroes: no size could be audited."
    elif not tax.paying:
        text = f"Never zeroes needlessly, at any of {len(tax.sizes)} size{'s' * (len(tax.sizes) != 1)}."
        if tax.first:
            text += f" Its first calloc in a process does, at {spans_text(tax.first)}."
    else:
        always = tax.paying == [(tax.sizes[0], tax.sizes[-1])] and len(tax.sizes) > 1
        text = f"Zeroes needlessly at {'every size, ' if always else ''}{spans_text(tax.paying)}."
        if not tax.first:
            text += " Its first calloc in a process does not."
    if tax.unknown:
        text += f" {tax.unknown} size{'s' * (tax.unknown != 1)} could not be audited."
    if tax.slow:
        text += f" Slow at {spans_text(tax.slow)}."
    worst = tax.worst
    if worst and worst.ratio() >= 1.05:
        text += (
            f" Worst at {size_text(worst.size)}: {time_text(worst.value)} a call, {times_text(worst.ratio())} "
            f"that of {worst.best_name} ({time_text(worst.best)})."
        )
    elif worst:
        text += " It is the fastest, or level with it, at every size that others were measured at."
    return Sentence(tax.name, text, link("time", size=worst.size if worst else None))


def _extremes(results: Results, points: list[Point], what: str) -> str | None:
    """ "… takes 1 ms with a and 2 ms with b: 2 times as long", at the size where they are furthest apart."""
    names, apart = full_names(results), furthest_apart(points, whole_time)
    if not apart:
        return None
    size, (fast, first), (slow, last) = apart
    return (
        f"at {size_text(size)} {what} takes {time_text(fast)} with {names[first]} and {time_text(slow)} with "
        f"{names[last]}, {times_text(slow / fast)}{'' if slow / fast < 1.05 else ' as long'}"
    )


def _untouched(found: list[Tax]) -> Sentence:
    slow = [f"{tax.name} at {spans_text(tax.slow)}" for tax in found if tax.slow]
    subject = "Callocs big blocks and writes little of them (receive buffers, sparse tables)"
    if not any(tax.worst for tax in found):
        return Sentence(subject, "Not to be said: no two allocators were measured at one size with touch 0.")
    if not slow:
        return Sentence(subject, "No allocator measured is slow there.", link("time"))
    return Sentence(subject, f"Slow are {'; '.join(slow)}.", link("time"))


def _written(results: Results) -> Sentence:
    subject = "Writes all of what it callocs"
    points = [p for p in results.cases.get("calloc_loop", []) if p.touch == 1 and p.key.thread == "main"]
    text = _extremes(results, points, "calloc, writing every page and free together")
    if text is None:
        return Sentence(subject, "Not measured: run `zerotax run --touch 1 --size 100MiB`.")
    apart = furthest_apart(points, whole_time)
    return Sentence(
        subject, sentence(text) + ".", link("time", touch=1, size=apart[0] if apart else None, **{"time.f": "whole_ns"})
    )


def _workers(results: Results) -> Sentence:
    subject = "Callocs in threads"
    points = results.cases.get("calloc_loop", [])
    both = {
        (p.key._replace(thread=""), p.size, p.touch, p.key.thread): p.figure("redundant_zeroed_bytes")
        for p in points
        if p.status == "ok"
    }
    pairs = [
        (key, value, both[(*key[:3], "worker")])
        for key, value in both.items()
        if key[3] == "main" and (*key[:3], "worker") in both
    ]
    if not pairs:
        return Sentence(
            subject,
            "Worker threads were not measured: run `zerotax study --full`, or "
            "`zerotax run --thread worker --size 100MiB`.",
        )
    # A page more or less is a header, not another behaviour.
    differ = sorted(
        {
            key[0].allocator
            for key, main, worker in pairs
            if not isinstance(main, Na) and not isinstance(worker, Na) and abs(main - worker) > results.page_bytes()
        }
    )
    text = (
        f"In worker threads {listed(differ)} zero{'es' * (len(differ) == 1)} other bytes needlessly than on the main "
        "thread."
        if differ
        else "Worker threads pay for the same needless zeros as the main thread, with every "
        f"allocator, at each of {len(pairs)} points."
    )
    return Sentence(subject, text, link("heat", thread="worker"))


def _receives(results: Results) -> Sentence:
    subject = "Receives into buffers from calloc"
    points = [p for case in ("recv_buffer", "recv_buffer_tcp") for p in results.cases.get(case, []) if p.touch == 0]
    tls = [p for p in points if p.raw["case"] == "recv_buffer"] or points
    names, apart = full_names(results), furthest_apart(tls, lambda p: p.figure("transfer", "mb_per_s"), 1e-6)
    if not apart:
        return Sentence(subject, "Not measured: run `zerotax run --case recv_buffer --size 100MB`.")
    size, (slow, last), (fast, first) = apart
    return Sentence(
        subject,
        (
            f"With buffers of {given_size_text(size)}, {rate_text(fast)} arrive with {names[first]} and "
            f"{rate_text(slow)} with {names[last]}."
        ),
        link("receiving", size=size),
    )


def for_whom(results: Results, found: list[Tax]) -> list[Sentence]:
    """What the run means for a program that …; what was not measured names the command that measures it."""
    return [_untouched(found), _written(results), _workers(results), _receives(results)]


def coverage(results: Results) -> str:
    """How many points the words are made from."""
    points = [p for every in results.cases.values() for p in every]
    bad = sum(p.status != "ok" for p in points)
    names = {p.key._replace(thread="") for p in points}
    return (
        f"From {count_text(len(points))} point{'s' * (len(points) != 1)} of {len(names)} allocator"
        f"{'s' * (len(names) != 1)}{f', {count_text(bad)} of them without a result' if bad else ''}."
    )


def summary(results: Results) -> dict[str, object]:
    """All sentences of the summary, in the order in which they are told."""
    found = taxes(results)
    return {
        "broken": broken(results),
        "lead": lead(results, found),
        "each": [who_pays(tax) for tax in found],
        "for_whom": for_whom(results, found),
        "coverage": coverage(results),
    }
