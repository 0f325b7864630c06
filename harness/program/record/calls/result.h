#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "os/page.h"

namespace zerotax::record {

struct CallsProcess {
  RESULT("calls process", "One process of a recording.");
  FIELD(std::string, name, "File name of the program.", kMayBeEmpty);
  FIELD(std::optional<std::uint64_t>, parent,
        "Place of the process that forked it. Absent of a program that was started.");
  FIELD(std::optional<std::uint64_t>, fork, "Which of its parent's forks it is, from 0.");
  FIELD(std::uint64_t, threads, "Threads that made calls.");
  FIELD(std::uint64_t, mallocs, "Calls of malloc.");
  FIELD(std::uint64_t, callocs, "Calls of calloc.");
  FIELD(std::uint64_t, aligned, "Calls with an alignment.");
  FIELD(std::uint64_t, reallocs, "Calls of realloc, without those that only freed.");
  FIELD(std::uint64_t, frees, "Calls of free for a known block.");
  FIELD(std::uint64_t, maps, "Calls by which the program mapped anonymous memory for itself.");
  FIELD(std::uint64_t, unknown_frees, "Frees of blocks from before the recording began, which are left out.");
  FIELD(std::uint64_t, lost_threads, "Threads that found no room to record their calls, which are missing.");
  FIELD(std::uint64_t, image_zeroed_bytes,
        "Memory of the program's and its libraries' data, and of its first thread's stack, that the kernel zeroed.");
  FIELD(std::uint64_t, image_copied_bytes,
        "Pages of data of its files that it wrote to, and that the kernel copied for it.");
  FIELD(std::optional<bool>, pages_known,
        "Whether the parts contain all populated pages of blocks that never ended. If the end of the process was not "
        "seen, this is false, and they contain some. Absent from earlier files.");
  FIELD(std::optional<std::uint64_t>, zeroed_at_most_bytes,
        "The most bytes that the kernel can have zeroed for the process. Present if pages_known is false and the bytes "
        "are known.");
};

struct CallsCounts {
  RESULT("calls counts",
         "What the recorded run counted, all processes together: replay under the same allocator must count the same.");
  FIELD(Measured<std::uint64_t>, minor_faults, "Minor page faults, of every kind.");
  FIELD(Measured<std::uint64_t>, zero_fill_faults, "Those that zeroed a page.");
  FIELD(Measured<std::uint64_t>, kernel_zeroed_bytes, "Bytes of the pages that zero-fill faults populated.");
  FIELD(Measured<std::uint64_t>, refilled_bytes,
        "Of those: in place of memory that the process had held before and returned.");
  FIELD(Measured<std::uint64_t>, returned_bytes, "Populated bytes given back to the kernel.");
  FIELD(Measured<std::uint64_t>, zeroed_bytes, "Bytes that the allocator overwrote with zeros.");
  FIELD(Measured<std::uint64_t>, redundant_zeroed_bytes, "Of those: zero already.");
  FIELD(Measured<std::uint64_t>, mapping_calls, "Calls of mmap, munmap, mremap, brk and madvise.");
  FIELD(Measured<std::uint64_t>, peak_bytes,
        "The most anonymous memory that the processes held at one time. In recordings of earlier versions: the sum of "
        "the most that each process held.");
};

struct CallsAbout {
  RESULT("zerotax record --calls: last part",
         "The last part of a file of zerotax record --calls (docs/replay.md): what was recorded.");
  MEMBER(schema, "Schema of this object.", one_of("zerotax.calls/1"));
  std::string schema = "zerotax.calls/1";
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote the file.", kMayBeEmpty);
  FIELD(std::string, allocator, "File name of the allocator's library, in the process that made most calls.",
        kMayBeEmpty);
  FIELD(std::vector<std::string>, env, "Settings of the allocator (KEY=VALUE) that --env gave.", kMayBeEmpty);
  FIELD(std::optional<std::uint64_t>, page_bytes,
        "Bytes of a page of the machine: the parts count pages of it. Files of earlier versions lack it: 4 KiB.",
        least(kLeastPageBytes));
  FIELD(bool, limited, "Whether the recording stopped at --calls-limit.");
  FIELD(std::vector<CallsProcess>, processes,
        "In the order of their beginning; the parts with calls name them by their place here.");
  FIELD(CallsCounts, recorded, "What the run counted, all processes together.");
};

}  // namespace zerotax::record
