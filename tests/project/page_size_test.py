"""The product assumes no page size, because arm64 kernels have pages of 4, 16 or 64 KiB. Code that needs the size calls
page_bytes().
"""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("ZEROTAX_SOURCE", pathlib.Path(__file__).parents[2]))
FOLDERS = ["harness", "allocators", "cases", "recorder"]
SUFFIXES = {".cc", ".h", ".c", ".S", ".py", ".sh"}
# Expressions that may mean a page of 4 KiB.
SIZE = re.compile(r"\b4'?09[56](?:[uUlLzZ]*)\b|\b0x1'?000\b|(?<![0-9a-fA-F'xX])0x0*fff[uUlL]*\b|(?:>>|<<)=? ?12\b"
                  r"|\b4 ?\* ?(?:1024|kKiB|KIB)\b|\b4_KiB\b|\b4 ?<< ?10\b|\{4\} ?<< ?10\b"
                  r"|\bPAGE_(?:SIZE|SHIFT|MASK)\b|\bkPageBytes\b")
COMMENT = re.compile(r"^\s*(?://|\*|/\*|#(?!\s*define))")

BUFFER = "a buffer for text or bytes, not a page"
COUNT = "a count, not a number of bytes"
ROUNDED = "a length that the kernel rounds up to a page, in a short program"
# Parts of lines that are allowed to contain one of the expressions above, by file, with the reason. Each of these parts
# must occur in its file.
ALLOWED = {
    "allocators/largecache/config.cc": {"&Settings::threshold, true, 4096": "the smallest threshold, as documented"},
    "allocators/largecache/pages.h": {
        "kLeastPage = 4096": "the smallest page of any machine",
        "constexpr std::size_t page_size() { return 4096; }": "only x86-64, which has no other pages"},
    "allocators/largecache/adaptive/adaptive_model.cc": {"kCallsWhileUntouched = 4096": COUNT},
    "allocators/largecache/adaptive/benchmarks/programs/blocks.c": {"round * 4096": "touches each page of any size"},
    "allocators/largecache/adaptive/benchmarks/programs/growing.c": {"at += 4096": "touches each page of any size"},
    "cases/recv_buffer/server/connection.cc": {"std::array<char, 4096>": BUFFER},
    "harness/kernel/contract/suite/kernel.c": {"limited ? 4096 : ": "a limit under which nothing more can be mapped"},
    "harness/kernel/contract/suite/program.c": {"limited ? 4096 : ": "the same limit, in the text of a program"},
    "harness/kernel/contract/suite/limit.c": {"4096 * page": COUNT},
    "harness/kernel/contract/suite/programs/dontneed_race.c": {"mmap(NULL, 4096": ROUNDED, "madvise((void*)word, 4096": ROUNDED},
    "harness/kernel/contract/suite/programs/fork_race.c": {"mmap(NULL, 4096": ROUNDED},
    "harness/kernel/contract/suite/programs/free_race.c": {"mmap(NULL, 4096": ROUNDED, "madvise((void*)word, 4096": ROUNDED},
    "harness/measuring/files/line_file.cc": {"std::array<char, 4096>": BUFFER},
    "harness/measuring/files/shared_file.cc": {"char buffer[4096]": BUFFER},
    "harness/kernel/cow/result.h": {"least(4096)": "the smallest page of any machine"},
    "harness/kernel/snapshot/plan.h": {"least(4096)": "the smallest page of any machine"},
    "harness/measuring/observe/process/frame_information.cc": {"kFarthest = std::uint64_t{4} << 10": "a distance in code"},
    "harness/kernel/fork/study.cc": {"{64, 256, 1024, 4096}": COUNT, "count == 4096": COUNT},
    "harness/measuring/observe/fault_data.cc": {"kAtOnce = 4096": COUNT},
    "harness/measuring/observe/python_words.cc": {
        "kPoolBytes[] = {4096, 16384}": "the sizes of a pool of CPython's allocator",
        "word >= 4096 && word": "below all mappings, on any machine"},
    "harness/program/record/preload/arena.h": {"kForkSites = 4096": COUNT},
    "harness/allocator/prove/process/contents.c": {"kSpan = 4096": "the step of a fill, for pages of any size"},
    "harness/allocator/prove/process/slot.c": {"kMostVariables = 4096": COUNT, "char text[4096]": BUFFER},
    "harness/allocator/prove/process/slot.h": {"kPath = 4096": "the longest path"},
    "harness/allocator/prove/program_calls.cc": {"kSpan = 4096": "the step of a fill, for pages of any size"},
    "harness/allocator/prove/process/supervise.c": {"char text[4096]": BUFFER},
    "harness/foundation/os/address_space.cc": {"entries[4096]": BUFFER},
    "harness/foundation/os/child.cc": {"char buffer[4096]": BUFFER},
    "harness/foundation/os/held_memory.cc": {"std::array<char, 4096>": BUFFER, "char text[4096]": BUFFER},
    "harness/foundation/os/helper_process.h": {"greeting_[4096]": BUFFER},
    "harness/foundation/os/machine_code_aarch64.cc": {
        "& 3), 21) << 12": "the unit of adrp, for any page size",
        "~std::uint64_t{0xfff}) + distance": "the unit of adrp, and ldr's operand"},
    "harness/foundation/os/page.h": {"kLeastPageBytes = 4096": "the smallest page of any machine"},
    "harness/foundation/os/range_list.cc": {"kFirst = 4096": COUNT},
    "harness/foundation/os/trace_event.cc": {"char part[4096]": BUFFER},
    "harness/foundation/os/syscall_trap.h": {"-4096UL": "the largest error number of a system call"},
    "harness/program/record/arena.cc": {"kHeadBytes = 4096": "room for the head of a slot"},
    "harness/program/record/preload/tally.h": {"kExecs = 4096": COUNT},
    "harness/program/record/preload/holdings.cc": {"char text[4096]": BUFFER},
    "harness/program/record/preload/site.cc": {"kAllOf = 4096": COUNT},
    "harness/program/record/preload/redirect.cc": {
        ".balign 4096": "room for code, in a page of any size", ".fill 4096": "the same", "kWaysBytes = 4096": "the same"},
    "harness/program/replay/prepare.cc": {"kMostLiveThreads = 4096": COUNT},
    "harness/program/replay/process/replay_calls.c": {"char found[4096]": BUFFER},
    "harness/measuring/run/machine/boot.cc": {"kConsoleKept = 4096": BUFFER},
    "harness/measuring/run/machine/guest_init.c": {"kMostWords = 4096": COUNT},
    "harness/program/top/view.cc": {"std::array<char, 4096>": BUFFER},
    "harness/program/trace/ctf_trace.cc": {"kLeastSlotBytes = 4096": "a limit of the format", "lane.slots > 4096": COUNT},
    "recorder/format/control_file.h": {"folder[4096]": BUFFER},
    "recorder/format/ring_file.h": {"kRingHeaderBytes = 4096": "a number of the format"},
    "recorder/src/metadata.cc": {"head[4096]": BUFFER},
    "recorder/src/ring.cc": {"kSlotUnit = 4096": "a number of the format"},
    "harness/program/replay/workloads/convert.py": {"PAGE = 4096": "an alignment that a trace of another machine lacks"},
}


def sizes():
    """Yields (file, number, text) of each line of code, without comments, that may mean a page of 4 KiB."""
    for folder in FOLDERS:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = line if COMMENT.match(line) is None else ""
                code = re.sub(r"(?<!:)//.*$", "", code) if path.suffix in {".cc", ".h", ".c"} else code
                if SIZE.search(code):
                    yield str(path.relative_to(SOURCE)), number, line.strip()


def test_no_size_of_a_page_is_a_constant():
    unknown = [f"{file}:{number}: {text}" for file, number, text in sizes()
               if not any(part in text for part in ALLOWED.get(file, {}))]
    assert not unknown, "a page? then page_bytes(); otherwise name it, and say here why:\n" + "\n".join(unknown)


def test_each_exception_is_needed():
    found = list(sizes())
    unused = [f"{file}: {part}" for file, parts in ALLOWED.items() for part in parts
              if not any(file == where and part in text for where, _, text in found)]
    assert not unused, unused
