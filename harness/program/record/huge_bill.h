#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/metrics.h"

namespace zerotax::record {

ENUM_WORDS(HugeKind, "allocator", "stacks", "program")

struct HugeRow {
  RESULT("huge row", "Huge pages in one kind of mapping.");
  FIELD(HugeKind, in,
        "Kind of the mappings: the allocator's memory, stacks, or mappings and data of the program itself.");
  FIELD(std::uint64_t, bytes,
        "Bytes of the huge pages that processes returned to the kernel, or still had at their end. Before Linux 6.7, "
        "only huge pages that a process had at its end and that contain a page of zeros count.");
  FIELD(std::uint64_t, examined_bytes,
        "The part of `bytes` whose contents were read: up to 1 GiB at the end of a process, and the huge pages of the "
        "first four returns with huge pages, then of the 8th, 16th and so on.");
  FIELD(std::uint64_t, unwritten_bytes,
        "Upper bound of the part of examined_bytes that was never written: pages of 4 KiB that contain only zeros.");
};

struct HugeBill {
  RESULT("huge bill",
         "Cost and use of transparent huge pages. The kernel zeroes a huge page whole, even if the program writes to a "
         "small part of it.");
  FIELD(std::vector<HugeRow>, rows, "Huge pages by kind of mapping. Kinds without huge pages are omitted.");
  FIELD(std::uint64_t, unwritten_at_most_bytes,
        "Upper bound of the bytes that were zeroed and never written: unwritten_bytes, and all bytes that were not "
        "examined. Without huge pages, the kernel would zero at most this much less.");
  FIELD(std::uint64_t, more_faults_at_least,
        "Lower bound of the additional page faults without huge pages: a fault for each page that was examined and "
        "contains more than zeros, minus the faults of all huge pages.");
  FIELD(Count, compaction_stalls,
        "Number of times that a thread on the whole machine waited during the run while the kernel moved pages to make "
        "room for huge pages or other large pieces of memory (compact_stall of /proc/vmstat).");
  FIELD(Count, memory_waits_ns,
        "Time in nanoseconds during which at least one thread of the whole machine waited for memory: for compaction, "
        "reclaim or a page from swap (`some` in /proc/pressure/memory). Absent from earlier files.",
        kLater);
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t examined_bytes() const;
  [[nodiscard]] std::uint64_t unwritten_bytes() const;
};

/// Sums the huge pages of the processes. Returns nothing if no process had huge pages.
std::optional<HugeBill> huge_bill(const std::vector<const ProcessSlot*>& processes);

/// Returns sentences about the bill. Empty if less than half of the examined memory is unwritten, or less than 1 MiB.
std::string huge_words(const HugeBill& bill);

}  // namespace zerotax::record
