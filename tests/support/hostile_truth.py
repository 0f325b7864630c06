"""The behavior of each allocator of tests/planted/hostile, as data: one row for each allocator.

`zeroed` and `redundant` are the bytes of one call in the steady state. Both are computed from the size and from whether
the program touches the block, never from reported values.
"""

import os
import platform
import time
from typing import Callable, NamedTuple

from conftest import PLANTED, is_na, watches_inline_stores

HOSTILE = PLANTED / "hostile"
PAGE = os.sysconf("SC_PAGESIZE")
# The families of instructions for which tests/planted/hostile has allocators on this processor.
ON_ARM64 = platform.machine() == "aarch64"
INSTRUCTIONS = ("dc_zva", "exclusive", "simd", "stnp") if ON_ARM64 else (
    "stosq", "sse_nontemporal", "avx2", "avx512", "avx512_nontemporal", "movnti", "x87", "lock_and", "clzero")


def pages(size):
    """Returns `size` rounded up to whole pages, in bytes."""
    return -(-size // PAGE) * PAGE


def all_of(size, _touched):
    return size


def nothing(_size, _touched):
    return 0


def of_kept(size, touched):
    """Returns the redundant bytes of a kept block that is cleared whole. If the program touches the block, every page
    is dirty; otherwise no page is.
    """
    return 0 if touched else size


def every_other_page(size, _touched):
    return sum(min(PAGE, size - at) for at in range(0, size, 2 * PAGE))


def constant(value):
    return lambda _size, _touched: value


def tuesday(size, _touched):
    return size if time.gmtime().tm_wday == 1 else 0


EXACT = "exact"        # reported to the byte
UP_TO = "up to"        # the truth, or more up to `limit`, because pages were counted
AT_LEAST = "at least"  # the truth or less, as docs/method.md explains
UNKNOWN = "n/a"        # n/a, with a reason that contains `why`
OR_UNKNOWN = "exact or n/a"


class Truth(NamedTuple):
    zeroed: Callable
    redundant: Callable = nothing
    method: str = "none"
    bound: str = EXACT
    limit: Callable = all_of  # the upper bound for UP_TO
    why: str = ""             # part of the reason of UNKNOWN
    modes: bool = False       # whether the steady state has more than one value
    zero_ns: str = ""         # part of the reason why zero_ns is n/a; empty if zero_ns is known whenever `zeroed` is


MEMSET = Truth(all_of, of_kept, "memset")
FRESH = Truth(all_of, all_of, "memset")
INLINE = Truth(all_of, of_kept, "inline")
FRESH_INLINE = Truth(all_of, all_of, "inline")
# The kernel stores the zeros, in a system call that malloc usually does not make.
TOLD = INLINE._replace(zero_ns="system calls")
TOLD_FRESH = TOLD._replace(redundant=all_of)
CLEAN = Truth(nothing)
UNSEEN = Truth(all_of, bound=UNKNOWN, why="unseen")
SHARED = UNSEEN._replace(why="shared or file mapping")

TRUTH = {
    # forms of memset
    "memset_value_256": MEMSET,
    "memset_one_then_zero": Truth(all_of, nothing, "memset"),
    "memset_overlapping": Truth(lambda size, _: size + 8 * PAGE,
                                lambda size, touched: 8 * PAGE if touched else size + 8 * PAGE, "memset"),
    "memset_backwards": MEMSET,
    "memset_twice": Truth(lambda size, _: 2 * size, lambda size, touched: size if touched else 2 * size, "memset"),
    "memset_ten_thousand": Truth(constant(160_000), constant(160_000), "memset"),
    "memset_many_then_inline": UNSEEN._replace(why="more calls to memset than fit in the buffer"),
    "memset_every_other_page": Truth(every_other_page, every_other_page, "memset"),
    "memset_tail": Truth(lambda size, _: size // 4, lambda size, _: size // 4, "memset"),
    "bzero": MEMSET,
    "explicit_bzero": MEMSET,
    "wmemset": Truth(all_of, lambda size, touched: size % 4 if touched else size, "memset"),
    "memset_checked": MEMSET,
    "memset_from_table": MEMSET,
    "memset_by_dlsym": INLINE,
    "memset_by_dlvsym": INLINE,
    "memset_of_second_libc": INLINE,
    "memset_of_its_own": INLINE,
    "memset_volatile": INLINE,
    "memset_through_realloc": MEMSET,
    "memset_capacity": Truth(lambda size, _: pages(size), lambda size, touched: 0 if touched else pages(size),
                             "memset"),
    "memset_with_header": Truth(lambda size, _: size + PAGE, of_kept, "memset"),
    "memset_neighbour": Truth(constant(65536), constant(65536), "memset"),
    "memset_and_inline": Truth(all_of, of_kept, "memset+inline"),
    # memset writes a part of each page
    "memset_16_only": Truth(lambda size, _: 16 * pages(size) // PAGE, lambda size, _: 16 * pages(size) // PAGE, "memset"),
    "memset_16_in_each_page": Truth(all_of, all_of, "memset+inline"),
    "memset_64_inside_each_page": Truth(
        all_of, lambda size, touched: 64 * (size // PAGE + (size % PAGE >= 128)) if touched else size, "memset+inline"),
    "stosb_then_memset_16": Truth(
        all_of, lambda size, touched: 16 * (size // PAGE + (size % PAGE >= 32)) if touched else size, "memset+inline"),
    # At these sizes, small blocks are clean. tests/allocator/study/hostile_test.py has smaller sizes.
    "small_stosb": CLEAN,
    "small_memset_by_dlsym": CLEAN,
    # hooks that are noticed, undone or skipped by a jump
    "unhooks": INLINE,
    "avoids_hooks": INLINE,
    "longjmp_out_of_memset": Truth(all_of, of_kept, bound=UP_TO, limit=lambda size, _: size + PAGE),
    # instructions
    **{name: INLINE for name in (*INSTRUCTIONS, "push", "memcpy", "memmove")},
    "stosb_fresh": FRESH_INLINE,
    # less or more than the whole block
    "byte_in_each_page": Truth(lambda size, _: pages(size) // PAGE, bound=UP_TO),
    "last_byte": Truth(constant(1), bound=UP_TO, limit=constant(PAGE)),
    "inline_capacity": Truth(lambda size, _: pages(size), bound=AT_LEAST),
    "inline_twice": Truth(lambda size, _: 2 * size, bound=AT_LEAST),
    "inline_neighbour": Truth(constant(65536), bound=AT_LEAST),
    "only_dirty_pages": Truth(lambda size, touched: size if touched else 0, nothing, "inline"),
    # the kernel stores zeros into the block
    **{name: TOLD for name in (
        "read_dev_zero", "pread_hole", "readv_pipe", "vmsplice", "process_vm_writev", "proc_self_mem", "recv_zeros")},
    "uffd_copy": UNSEEN._replace(why="not followed"),
    # the kernel supplies other pages
    **{name: CLEAN for name in (
        "dontneed", "process_madvise", "mremap_over", "memfd_shared", "memfd_private", "punch_hole", "zero_range",
        "truncate_file", "madvise_remove", "uffd_zeropage", "at_first_touch_uffd")},
    "process_madvise_populate": CLEAN,
    "process_madvise_pieces": CLEAN._replace(bound=OR_UNKNOWN),
    "guard_pages": CLEAN,
    "guards_while_kept": CLEAN,
    "io_uring_madvise": CLEAN._replace(bound=OR_UNKNOWN),
    "shmat_over": CLEAN._replace(bound=OR_UNKNOWN),
    # the zeroed pages are gone when the call returns
    **{name: UNSEEN for name in (
        "stosb_then_dontneed", "stosb_then_guard_pages", "stosb_then_process_madvise", "shmdt_of_zeros",
        "helper_drops_zeros")},
    "dontneed_then_memset": FRESH,
    "dontneed_then_stosb": TOLD_FRESH,
    "free_then_memset": MEMSET,
    "pageout_then_memset": MEMSET,
    "mremap_cut": Truth(all_of, lambda size, touched: size - PAGE if touched else size, "memset"),
    "mremap_populated": UNSEEN._replace(why="moved into the block"),
    "uffd_move": UNSEEN._replace(why="not followed"),
    "file_of_other_bytes": Truth(all_of, nothing, "memset"),
    "file_of_other_bytes_private": Truth(all_of, nothing, "memset"),
    "file_populated": CLEAN._replace(bound=OR_UNKNOWN),
    "memfd_memset": FRESH,
    "memfd_stosb": SHARED,
    "memfd_private_stosb": SHARED,
    "sysv_shm": FRESH,
    "shared_stosb": SHARED,
    # the kernel has populated the pages
    "populate_then_stosb": FRESH_INLINE._replace(bound=OR_UNKNOWN),
    "populate_then_memset": FRESH,
    "populate_write": CLEAN._replace(bound=OR_UNKNOWN),
    "mlockall": CLEAN._replace(bound=OR_UNKNOWN),
    "mlockall_stosb": FRESH_INLINE._replace(bound=OR_UNKNOWN),
    "huge_page": UNSEEN._replace(why="huge pages"),
    "huge_page_for_a_moment": UNSEEN._replace(why="huge pages"),
    # another thread or process populates or drops the pages
    **{name: CLEAN._replace(bound=OR_UNKNOWN) for name in (
        "helper_drops", "helper_drops_and_populates", "helper_populates_beside_faults", "process_of_same_memory",
        "clone_in_each_call")},
    "helper_drops_then_stosb": FRESH_INLINE._replace(bound=OR_UNKNOWN),
    # zeroing in other processes, signal handlers, stacks and threads, and at other times
    "child_process": SHARED,
    "vfork_child": MEMSET,
    "signal_handler": MEMSET,
    "signal_handler_masked": INLINE._replace(zero_ns="system calls"),
    "signal_stack": MEMSET,
    "timer_signal": INLINE._replace(zero_ns="system calls"),
    "longjmp_out_of_signal": MEMSET,
    "other_stack": MEMSET,
    "at_exit": CLEAN,
    "other_thread": INLINE._replace(bound=OR_UNKNOWN, zero_ns="system calls"),
    "other_thread_later": CLEAN,
    "at_first_touch": CLEAN,
    "on_tuesdays": Truth(tuesday, tuesday, "memset"),
    "in_second_thread": CLEAN,
    "after_100_calls": CLEAN,
    "one_call_in_seven": Truth(nothing, modes=True),
    "if_errno_is_set": CLEAN,
    "odd_sizes": Truth(lambda size, _: size % 2 * size, lambda size, _: size % 2 * size, "memset"),
    "if_preloaded": FRESH,
    "if_environment_tells": CLEAN,
    "unless_measured": CLEAN,
    # attacks on the instrument
    "denies_userfaultfd": UNSEEN._replace(why="userfaultfd"),
    "denies_ioctl": UNSEEN,
    "denies_ioctl_memset": MEMSET,
    "denies_prctl": MEMSET,
    "denies_openat": UNSEEN,
    "ends_dispatch": MEMSET,
    "handles_sigsys": MEMSET,
    "closes_descriptors": UNSEEN,
    "replaces_descriptors": UNSEEN,
    "changes_root": UNSEEN,
    "unshares": MEMSET,
    "personality": MEMSET,
    "no_descriptors_left": UNSEEN,
    "arms_write_protection": CLEAN,
    **({} if ON_ARM64 else {"int80": MEMSET}),
    "own_clocks": FRESH_INLINE,
    "limits_address_space": INLINE._replace(bound=OR_UNKNOWN),
    "limits_data": INLINE._replace(bound=OR_UNKNOWN),
    "limits_at_start": MEMSET,
    "limits_stack_and_files": MEMSET,
    # times
    "slow_and_clean": CLEAN,
    "malloc_zeroes_too": INLINE._replace(zero_ns="malloc"),
    "malloc_memsets_too": INLINE._replace(zero_ns="malloc"),
    "madvise_and_one_page": Truth(constant(PAGE), lambda _size, touched: 0 if touched else PAGE, "inline",
                                  zero_ns="madvise"),
    "slow_and_one_page": Truth(constant(PAGE), lambda _size, touched: 0 if touched else PAGE, "inline",
                               zero_ns="other work"),
}


def hostile(*names):
    """Returns the arguments that measure these allocators."""
    return [word for name in names for word in ("--allocator", f"{name}={HOSTILE / f'lib{name}.so'}")]


def check_zeroed(run, point, truth):
    """Checks that the report about a point of `run` is the truth, a bound of the truth, or n/a where the truth cannot
    be known.
    """
    size, touch = point["size_bytes"], point["touch"]
    assert point["status"] == "ok", point["reason"]
    reported = point["zeroed_bytes"]
    zeroed = truth.zeroed(size, touch > 0)
    unknown_here = "inline" in truth.method and not watches_inline_stores(run)
    if is_na(reported):
        assert truth.bound in (UNKNOWN, OR_UNKNOWN) or unknown_here, reported
        assert truth.why in reported["na"]
        return
    assert truth.bound != UNKNOWN, f"{reported} reported where the truth cannot be known"
    if truth.bound in (EXACT, OR_UNKNOWN):
        assert reported == zeroed
        assert point["zeroed_method"] == (truth.method if zeroed else "none") or truth.modes
        if not is_na(point["redundant_zeroed_bytes"]):
            assert point["redundant_zeroed_bytes"] == truth.redundant(size, touch > 0)
    elif truth.bound == UP_TO:
        # A page that the block shares with other blocks is not reported unless the neighboring block was filled.
        assert reported <= truth.limit(size, touch > 0)
        assert reported >= zeroed or size % PAGE != 0
    else:
        assert truth.bound == AT_LEAST
        assert reported <= zeroed
