"""Whether a page that is only read is the kernel's shared zero page. Some kernels do not give programs this page, as in
virtual machines without hardware support (PVM, pvm_no_zero_page=1).
"""

import functools
import mmap

PAGES = 256


def anonymous_kib():
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        [line] = [line for line in file if line.startswith("Anonymous:")]
    return int(line.split()[1])


@functools.cache
def has_shared_zero_page():
    memory = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    before = anonymous_kib()
    assert not any(memory[at] for at in range(0, PAGES * mmap.PAGESIZE, mmap.PAGESIZE))
    return anonymous_kib() - before < PAGES * mmap.PAGESIZE // 1024 // 2
