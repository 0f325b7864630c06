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
        "Index of the process that forked this process; absent for a program that was started.");
  FIELD(std::optional<std::uint64_t>, fork, "Index of the fork among all forks of the parent process, from 0.");
  FIELD(std::uint64_t, threads, "Number of threads that called the allocator.");
  FIELD(std::uint64_t, mallocs, "Number of calls to malloc.");
  FIELD(std::uint64_t, callocs, "Number of calls to calloc.");
  FIELD(std::uint64_t, aligned, "Number of calls that request an alignment.");
  FIELD(std::uint64_t, reallocs, "Number of calls to realloc, without calls that only freed a block.");
  FIELD(std::uint64_t, frees, "Number of calls to free for a known block.");
  FIELD(std::uint64_t, maps, "Number of calls by which the program itself mapped anonymous memory.");
  FIELD(std::uint64_t, unknown_frees,
        "Number of calls to free for blocks that were allocated before the recording began. The recording leaves out "
        "these calls.");
  FIELD(std::uint64_t, lost_threads,
        "Number of threads whose calls are missing, because the recorder had no room for these calls.");
  FIELD(std::uint64_t, image_zeroed_bytes,
        "Bytes that the kernel zeroed for the data of the program and its libraries, and for the stack of its "
        "first thread.");
  FIELD(std::uint64_t, image_copied_bytes,
        "Bytes in data pages of files that the process wrote to, so that the kernel copied the pages.");
  FIELD(std::optional<bool>, pages_known,
        "Whether the parts contain all populated pages of blocks that never ended. If the end of the process was not "
        "seen, this is false, and the parts contain only some of these pages. Absent from earlier files.");
  FIELD(std::optional<std::uint64_t>, zeroed_at_most_bytes,
        "Maximum number of bytes that the kernel can have zeroed for the process. Present if pages_known is false"
        " and this number is known.");
};

struct CallsCounts {
  RESULT("calls counts",
         "Counts of the recorded run, all processes together. A replay under the same allocator must count the "
         "same.");
  FIELD(Measured<std::uint64_t>, minor_faults, "Minor page faults of every kind.");
  FIELD(Measured<std::uint64_t>, zero_fill_faults, "Page faults that zeroed a page.");
  FIELD(Measured<std::uint64_t>, kernel_zeroed_bytes, "Bytes of the pages that zero-fill faults populated.");
  FIELD(Measured<std::uint64_t>, refilled_bytes,
        "The part of kernel_zeroed_bytes in place of memory that the process had held before and returned.");
  FIELD(Measured<std::uint64_t>, returned_bytes, "Populated bytes returned to the kernel.");
  FIELD(Measured<std::uint64_t>, zeroed_bytes, "Bytes that the allocator overwrote with zeros.");
  FIELD(Measured<std::uint64_t>, redundant_zeroed_bytes, "The part of zeroed_bytes that was already zero.");
  FIELD(Measured<std::uint64_t>, mapping_calls, "Calls to mmap, munmap, mremap, brk and madvise.");
  FIELD(Measured<std::uint64_t>, peak_bytes,
        "Maximum anonymous memory that the processes held at one time; in recordings of earlier versions, the sum"
        " of the processes' separate peaks.");
};

struct CallsAbout {
  RESULT("zerotax record --calls: last part",
         "The last part of a file of zerotax record --calls (docs/replay.md), which describes the recording.");
  MEMBER(schema, "Name and version of this format.", one_of("zerotax.calls/1"));
  std::string schema = "zerotax.calls/1";
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote the file.", kMayBeEmpty);
  FIELD(std::string, allocator, "File name of the allocator's library in the process that made most calls.",
        kMayBeEmpty);
  FIELD(std::vector<std::string>, env, "Settings of the allocator that --env gave, as KEY=VALUE.", kMayBeEmpty);
  FIELD(std::optional<std::uint64_t>, page_bytes,
        "Page size of the machine in bytes. The parts count pages of this size. Absent from files of earlier "
        "versions, which have pages of 4 KiB.",
        least(kLeastPageBytes));
  FIELD(bool, limited, "Whether the recording stopped at --calls-limit.");
  FIELD(std::vector<CallsProcess>, processes,
        "The processes in the order of their start. The parts with calls identify a process by its index in this "
        "list.");
  FIELD(CallsCounts, recorded, "Counts of the run, all processes together.");
};

}  // namespace zerotax::record
