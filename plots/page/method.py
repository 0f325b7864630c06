"""The page's section on method: name, how it is measured, its limits. docs/method.md has all of it."""

METHOD = [
    (
        "Points",
        "Each point (allocator, configuration, case, size, touch, thread) runs in processes of its own; what "
        "is counted and what is timed are separate runs. Metrics are of the later operations, when behaviour "
        "has settled; the first call of a process is listed separately.",
        "anything about another machine, kernel or version. Times compare only within one run.",
    ),
    (
        "Times",
        "CLOCK_MONOTONIC, read right before and right after the call: the median over the operations, with "
        "the 5th and 95th percentile. Reading the clock is part of each time.",
        "what a call costs while other threads are busy: nothing else runs.",
    ),
    (
        "Page faults",
        "Minor faults of the thread, by getrusage, read outside the timed windows.",
        "a number of pages: with huge pages one fault brings many.",
    ),
    (
        "Bytes zeroed",
        "Calls of memset and its kin inside calloc, caught in every loaded object, exact to the byte; and "
        "pages of the block that inline stores filled, found by the kernel's page tables and write tracking, "
        "exact to the page.",
        "that an inline store wrote each byte of a page; zeroing in free or on another thread is not counted.",
    ),
    (
        "Needlessly",
        "Of the zeroed bytes, those that were zero already: in pages that were not populated, or were "
        "populated and all zero.",
        "that the allocator could have known: it may not keep track of which freed memory is still zero.",
    ),
    (
        "Thresholds",
        "A search by what calloc does (zeroes or not, system calls, where the block lives), by halving the "
        "range until two neighbouring sizes differ.",
        "that nothing changes between two neighbouring sizes of the grid that behave alike.",
    ),
    (
        "Receiving",
        "Megabytes per second of a TLS client on this machine into a buffer from calloc, without any meter.",
        "what a network would bring.",
    ),
    (
        "Fork and snapshot",
        "Sections by sampling the kernel against a clock around the system call; faults by the kernel's own "
        "events; times in runs in which nothing watches.",
        "anything about a program that computes between its writes.",
    ),
    (
        "Missing metrics",
        "A metric that could not be measured is n/a with its reason, never 0; a point that did not end well "
        "has no metrics.",
        "that it would have been small.",
    ),
]
