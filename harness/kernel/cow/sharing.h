#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"
#include "observe/copy_writer.h"
#include "observe/fault_data.h"

namespace zerotax::cow {

struct Writing {
  RESULT("writer", "Copies that one kind of code caused.");
  FIELD(Writer, writer,
        "The kind of code. In CPython, the written word decides: the reference count of an object, the collector's "
        "header before an object, or the header of a pool of small blocks. Names of functions identify other "
        "allocators and collectors. Stacks, data of files and system calls follow from the mapping and the CPU's mode. "
        "Code without a symbol is unknown code, unless the written word decides. zerotax reads the word a few "
        "milliseconds after the fault (later with --stacks), so the writer is unknown if the process and its parent "
        "have ended.");
  FIELD(std::optional<std::string>, module,
        "File name of the program or library that contains unknown code. Absent for other writers, and for code that "
        "is in no file.");
  FIELD(std::uint64_t, copies, "Number of copied pages; an estimate if faults were sampled.");
  FIELD(std::uint64_t, by_children, "The part of `copies` that forked processes made.");
  FIELD(std::uint64_t, copied_bytes, "Bytes of the copied pages.");
};

struct Sharing {
  RESULT("sharing", "Private memory of a process since a fork, some milliseconds after the end of an interval.");
  FIELD(Measured<std::uint64_t>, shared_bytes,
        "Bytes of private pages in memory that other processes map, too (/proc/PID/pagemap). Before Linux 6.7, pages "
        "that were only read are included.");
  FIELD(Measured<std::uint64_t>, inherited_bytes,
        "Private memory of the parent a few milliseconds after it forked the process (RssAnon and VmSwap). n/a for a "
        "process that was not forked while zerotax watched, or that executed another program.");
  FIELD(Measured<std::uint64_t>, copied_bytes,
        "Bytes that the process copied since its fork. If that fork was not watched, the count starts with the first "
        "child, or when zerotax attached. 0 if no process is left to share pages with. n/a after the end of the "
        "process.");
  FIELD(Measured<std::uint64_t>, zeroed_bytes,
        "Bytes of zero-fills since the moment from which copied_bytes counts. For an ordinary user, first reads of "
        "memory are included, and zero-fills in system calls are missing.");
};

/// PSS of all processes at the end of an interval.
struct SharedPss {
  RESULT("PSS of all processes");
  FIELD(std::uint64_t, pss_bytes, "Sum of the PSS of all processes.");
  FIELD(std::uint64_t, uncopied_bytes,
        "The sum if no page had been copied: pss_bytes minus the copied_bytes of these processes. The sum is a lower "
        "bound, because copies may have been returned, and the original of a copy may no longer be mapped. For an "
        "ordinary user, and from a sample, the sum is an estimate.");
};

struct Cow;
struct Interval;

Sharing sharing_of(const FaultInterval::Process& process);
/// Returns the PSS of all processes; n/a unless the PSS of each living process is known.
Measured<SharedPss> pss_of(const FaultInterval& interval);

/// Returns a sentence with the memory that the children still share, at the last interval at which this is known. Empty
/// if it is never known.
std::string sharing_sentence(const Cow& cow);
/// Returns a table with a row for each interval, at most about 12 rows; empty if there are no children.
std::string sharing_table(const Cow& cow);
/// Returns the writer's name: "garbage collector", or "unknown code of python3.11".
std::string writer_label(const Writing& writing);
/// Returns a sentence with the writer of most copies; empty without copies.
std::string writers_sentence(const Cow& cow);

/// Returns whether a garbage collector or reference counts cause at least half of the copies. A remedy before the fork
/// may avoid these copies.
bool is_copied_by_runtime(const Cow& cow);
/// Returns a table of all writers; empty without copies.
std::string writers_table(const Cow& cow);

}  // namespace zerotax::cow
