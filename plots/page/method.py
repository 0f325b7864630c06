"""The page's section on method: name, how it is measured, what it does not prove. docs/method.md has all of it."""

METHOD = [
    (
        "Points",
        "Each point (allocator, configuration, case, size, touch, thread) runs in processes of its own; what "
        "is counted and what is timed are separate runs. Figures are of the later operations, when behaviour "
        "has settled; the first call of a process is told apart.",
        "anything about another machine, kernel or version. Times compare only within one run.",
    ),
    (
        "Times",
        "CLOCK_MONOTONIC, read right before and right after the call: the median over the operations, with "
        "the 5th and 95th percentile. Reading the clock is part of each time.",
        "what a call costs beside other threads' work: nothing else runs.",
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
        "that the allocator could have known: it may have no record of what it got back.",
    ),
    (
        "Thresholds",
        "A search by what calloc does (zeroes or not, system calls, where the block lives), by halving the "
        "range until two neighbouring sizes differ.",
        "that there is no threshold within a range whose ends behave alike and that the grid did not look " "into.",
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
        "what a program does that computes between its writes.",
    ),
    (
        "Missing figures",
        "A figure that could not be measured is n/a with its reason, never 0; a point that did not end well "
        "has no figures.",
        "that it would have been small.",
    ),
]
