#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "observe/interpreter.h"
#include "observe/symbols.h"
#include "record/tax_parts.h"

namespace zerotax::record {

/// calloc, realloc, by hand, malloc, free, purge, program, memset, fault: in words, for people.
const char* kind_text(SiteKind kind);

struct SampledSite {
  RESULT("sampled site", "What samples of small blocks stand for.");
  FIELD(std::uint64_t, zeroed_bytes, "Bytes zeroed.");
  FIELD(std::uint64_t, redundant_zeroed_bytes,
        "The redundant part of these bytes, by the share found in the store that was examined. Also the redundant part "
        "of large by_program stores that were not examined, by the share in the examined stores here.");
  FIELD(std::uint64_t, kernel_zeroed_bytes,
        "Kernel-zeroed bytes of smaller blocks got here, by the calls that were looked at: the pages that the call "
        "populated, and those of the block that were not populated. With kernel_zeroed_bytes of all sites, at most "
        "what the kernel zeroed for the process.",
        kLater);
  FIELD(
      std::optional<std::uint64_t>, calls,
      "Further calls of rule.large_bytes or more, estimated. These calls got populated memory, or cleared other memory "
      "and were not examined. After a thread's first 4,096 such calls, one in 32, chosen at random, stands for 32.");
  FIELD(LowHigh, kernel_interval_bytes, "From outside: the 95 % interval of kernel_zeroed_bytes.");
  FIELD(std::optional<std::uint64_t>, return_calls,
        "From outside, as root: calls that return memory (munmap, madvise, brk, mremap), by samples.");
  FIELD(std::optional<std::uint64_t>, returned_at_most_bytes,
        "Bytes of anonymous memory that they asked to be returned: what of it was populated is not known.");
  FIELD(LowHigh, returned_interval_bytes, "Its 95 % interval; both ends alike if every call was seen.");
  FIELD(std::optional<std::uint64_t>, zero_cpu_ns,
        "From outside: CPU nanoseconds in functions that store zeros, called from here, by samples.");
  FIELD(LowHigh, zero_cpu_interval_ns, "Its 95 % interval.");
};

ENUM_WORDS(SiteKind, "calloc", "realloc", "by_hand", "malloc", "free", "purge", "program", "by_program", "fault")

/// Returned bytes by the name of the mechanism; mechanisms that returned nothing are left out.
struct ReturnedBytes {
  static constexpr const char* kSchema = R"({"type": "object",
    "propertyNames": {"enum": ["munmap", "madvise", "brk", "mremap", "mmap"]},
    "additionalProperties": {"type": "integer", "minimum": 0}})";
  std::uint64_t by[kMechanisms] = {};
};
void to_json(Json& json, const ReturnedBytes& bytes);
void from_json(const Json& json, ReturnedBytes& bytes);

struct RecordedSite {
  RESULT("site", "One call stack.");
  FIELD(SiteKind, kind,
        "What zeroed the memory: calloc, realloc, malloc, or the program with a memset right after malloc (by_hand) or "
        "over other memory (by_program). free: a call that returned memory; purge: the allocator itself did, outside "
        "such a call; program: the program itself. fault: where memory was populated, of a program recorded from "
        "outside; its bytes are in sampled.");
  FIELD(std::uint64_t, calls,
        "Exact number of calls here that requested or cleared rule.large_bytes or more, or, for free, purge and "
        "program, returned as much. Smaller calls are in no count of a site. sampled.calls estimates further calls.");
  FIELD(std::uint64_t, requested_bytes, "Bytes that they requested; by hand: bytes cleared.");
  FIELD(std::uint64_t, zeroed_bytes, "Bytes that they zeroed in large stores.");
  FIELD(std::uint64_t, redundant_zeroed_bytes, "The redundant part of these bytes.");
  FIELD(std::uint64_t, zero_ns, "Nanoseconds in those stores.");
  FIELD(std::uint64_t, zero_faults, "Minor faults in those stores.");
  FIELD(SampledSite, sampled,
        "Estimates. Small stores: all stores since the thread's previous sample are attributed to the stack of the "
        "store that was examined.");
  FIELD(std::uint64_t, kernel_zeroed_bytes,
        "Of large blocks got here: bytes that were populated while the program had them.", kLater);
  FIELD(std::uint64_t, refilled_bytes,
        "The part of kernel_zeroed_bytes in place of memory that had been returned before.", kLater);
  FIELD(ReturnedBytes, returned_by, "returned_bytes by mechanism.", kLater);
  FIELD(std::uint64_t, returned_bytes,
        "Bytes that calls from here returned to the kernel, from rule.large_bytes a call on.", kLater);
  FIELD(std::vector<NamedFrame>, frames, "Frames, innermost first, without the recorder's own; at most 32.");
  /// Of large blocks got here: live at the peak of the live heap, of the process with the highest. Not in the document.
  std::uint64_t live_bytes = 0;
  /// Large stores and blocks, and what samples of small ones stand for.
  [[nodiscard]] std::uint64_t all_zeroed_bytes() const { return zeroed_bytes + sampled.zeroed_bytes; }
  [[nodiscard]] std::uint64_t all_kernel_bytes() const { return kernel_zeroed_bytes + sampled.kernel_zeroed_bytes; }
  /// Its place among the others: bytes zeroed at it, by the kernel of blocks got at it, and returned at it.
  [[nodiscard]] std::uint64_t weight() const { return all_zeroed_bytes() + all_kernel_bytes() + returned_bytes; }
};

struct RecordedThread {
  RESULT("recorded thread", "One thread, or several finished threads that were merged when room ran short.");
  FIELD(std::int32_t, tid, "ID of the thread.");
  FIELD(std::string, name, "Its name at its first call.", kMayBeEmpty);
  FIELD(std::uint64_t, threads, "Number of threads that these metrics cover.", least(1));
  FIELD(Metrics, figures, "Metrics of the thread.");
};

enum class Began { kExec, kFork };
ENUM_WORDS(Began, "exec", "fork")

/// `ended` of a process that was still there when the program had ended.
inline constexpr const char* kRunning = "running";

struct RecordedProcess {
  RESULT("process", "One process, from its start or exec to its end or exec.");
  FIELD(std::int32_t, pid, "PID of the process.", least(1));
  FIELD(std::int32_t, parent_pid, "PID of its parent when it began.");
  FIELD(std::string, executable, "Path of its program; empty if /proc is not accessible.", kMayBeEmpty);
  FIELD(std::string, command,
        "The beginning of its command line, words separated by spaces; empty if /proc is not accessible.", kMayBeEmpty);
  FIELD(std::string, allocator, "The library whose calloc it calls.");
  FIELD(Began, began, "How it began. exec: as a new program; fork: as a copy of its parent.");
  FIELD(std::int64_t, started_ns, "Nanoseconds after the start of the run.");
  FIELD(std::string, ended,
        "How it ended: exit, exec, the name of the signal (known only for the first process), running (still running "
        "at the end), or unknown.");
  FIELD(Measured<std::int64_t>, wall_ns, "Nanoseconds from start to end.");
  FIELD(Measured<std::int64_t>, user_ns, "CPU nanoseconds in user space.");
  FIELD(Measured<std::int64_t>, system_ns, "CPU nanoseconds in the kernel.");
  FIELD(std::vector<std::string>, gaps, "What is missing from its metrics, in words.");
  FIELD(Metrics, figures, "Sums over its threads.");
  FIELD(KernelMetrics, kernel, "The kernel's part of this process.", kLater);
  FIELD(std::uint64_t, lost_blocks,
        "Large blocks that there was no room to remember: what the kernel zeroed of them is not in the histogram and "
        "the sites.",
        kLater);
  FIELD(std::vector<RecordedThread>, threads, "Its threads, in the order of their first call.");
  Count peak_live_bytes;  ///< not in the document
  /// Bounds of peak_live_bytes, in requested bytes. Not in the document.
  std::uint64_t peak_live_at_least_bytes = 0;
  Count peak_live_at_most_bytes;
  Count held_elsewhere_bytes;  ///< the most of the peak that allocators did not hold; not in the document
};

struct NotFollowed {
  RESULT("not followed", "One such program.");
  FIELD(std::int32_t, pid, "PID of its process, or of the first of several.", least(1));
  FIELD(
      std::string, program,
      "The program, as it was named to exec or posix_spawn, or the first 15 bytes of its name as the kernel knows it.",
      kMayBeEmpty);
  FIELD(std::string, reason, "Why nothing is known about it.");
  MEMBER(processes, "Processes of it.", least(1));
  std::uint64_t processes = 1;
  FIELD(Count, minor_faults, "Their minor faults, counted by the kernel.");
  FIELD(Count, cpu_ns, "Their CPU nanoseconds.");
  bool running = false;  ///< at the end of the run, so that nothing of it was counted yet: no key
};

struct RunResult {
  RESULT("run result");
  FIELD(Measured<int>, exit_status,
        "Exit status, as a shell reports it: 128 + N if signal N ended the program. n/a of a process that ran already "
        "(--pid).",
        most(255));
  FIELD(OrNull<std::string>, signal, "Name of the signal that ended it, or null.", form("^SIG"));
  FIELD(std::int64_t, wall_ns, "Nanoseconds from its start to its end; with --pid, for which it was watched.");
  FIELD(std::int64_t, user_ns,
        "CPU nanoseconds in user space, of the program and the descendants that were waited for.");
  FIELD(std::int64_t, system_ns, "CPU nanoseconds in the kernel, likewise.");
};

struct Rule {
  RESULT("rule");
  MEMBER(large_bytes,
         "From this size on, every store of zeros is timed and its pages and contents are examined, and every calloc "
         "records its call stack.",
         least(1));
  std::uint64_t large_bytes = kLargeBytes;
  MEMBER(first_sample_bytes,
         "Bytes zeroed by smaller stores on a thread before the first of them is examined; the interval doubles with "
         "each sample.",
         least(1));
  std::uint64_t first_sample_bytes = kFirstSampleBytes;
  MEMBER(last_sample_bytes, "The largest interval.", least(1));
  std::uint64_t last_sample_bytes = kLastSampleBytes;
};

/// How it is known from outside what the kernel zeroed.
enum class ZeroedBy : std::uint8_t {
  kCounted,  ///< each page, by a tracepoint
  kSampled,  ///< minor faults, divided as samples of them say
  kBounded,  ///< between the growth of what the program holds, and a page for each fault
};
ENUM_WORDS(ZeroedBy, "counted", "sampled", "bounded")

/// What was watched from outside.
enum class Watched : std::uint8_t {
  kCommand,  ///< a program from its start to its end
  kProcess,
  kCgroup,
  kUser,     ///< all processes of a user
  kMachine,  ///< all
};
ENUM_WORDS(Watched, "command", "process", "cgroup", "user", "machine")

struct Outside {
  RESULT("outside", "How a program was recorded that zerotax's library is not in.");
  FIELD(std::string, why, "Why the library is not in it.");
  MEMBER(watched,
         "What was watched: a command, a process with its descendants, the processes of a cgroup, all of this user, or "
         "all of the machine.");
  Watched watched = Watched::kCommand;
  FIELD(std::optional<std::int32_t>, pid, "The process that was watched (--pid); absent of a command.", least(1));
  FIELD(std::optional<std::string>, cgroup, "The path of the cgroup (--cgroup).");
  MEMBER(zeroed_by,
         "How totals.kernel.zeroed_bytes is known. counted: each page, by a tracepoint (root). sampled: minor faults "
         "in user mode, divided by samples of them. bounded: nothing could be sampled.");
  ZeroedBy zeroed_by = ZeroedBy::kBounded;
  FIELD(std::uint64_t, cpu_samples, "Samples of the CPU time.");
  FIELD(std::uint64_t, fault_samples, "Samples of page faults.");
  FIELD(std::uint64_t, return_samples, "Samples of calls that return memory.");
  FIELD(std::string, why_no_returns, "Why none was taken: their sites are not known. Empty if they were.", kMayBeEmpty);
  FIELD(std::uint64_t, lost_records, "Samples and other records that were lost because nobody read them in time.");
  FIELD(Count, clearing_cpu_ns,
        "CPU nanoseconds in which the kernel cleared pages, by samples; part of the page faults.");
  FIELD(LowHigh, clearing_interval_ns, "Its 95 % interval.");
  FIELD(bool, advisable, "Whether zerotax advise can start the program.");
  FIELD(std::vector<std::string>, notes, "What limits the numbers, in words.");
};

struct SizeClass {
  RESULT("size class",
         "Calls that stored at least this many bytes, a power of two, and less than twice as many; or none.");
  FIELD(std::uint64_t, from_bytes, "A power of two, or 0.");
  FIELD(std::uint64_t, calls, "Of these sizes.", least(1));
  FIELD(std::uint64_t, bytes, "That they stored.");
};

struct StoreCaller {
  RESULT("store caller", "Who called a function that stores zeros.");
  FIELD(NamedFrame, frame, "A place in a program.");
  FIELD(std::string, function, "That was called.", kMayBeEmpty);
  FIELD(std::uint64_t, calls, "Calls that stored zeros.", least(1));
  FIELD(std::uint64_t, bytes, "That they stored.");
  FIELD(std::uint64_t, smallest_bytes, "Of one call.");
  FIELD(std::uint64_t, largest_bytes, "Of one call.");
  FIELD(std::vector<SizeClass>, sizes,
        "Calls by size, from a power of two up to its double; from_bytes 0: of no bytes.");
};

struct StoreSizes {
  RESULT("store sizes", "Every call of functions that store zeros, from outside (--sizes).");
  FIELD(std::uint64_t, calls, "Calls that stored zeros.");
  FIELD(std::uint64_t, bytes, "That they stored.");
  FIELD(std::uint64_t, other_bytes_calls, "Calls of memset with another byte than zero.");
  FIELD(std::uint64_t, lost_calls, "Calls that nobody read in time: where there are any, the others are lower bounds.");
  FIELD(std::vector<std::string>, functions, "Functions that were watched.", kMayBeEmpty);
  FIELD(std::vector<std::string>, unwatched, "Functions on which no breakpoint is safe: their calls are missing.",
        kMayBeEmpty);
  FIELD(std::vector<StoreCaller>, callers, "Who called them, most bytes first.");
};

struct Record : DocumentHead {
  RESULT("zerotax record",
         "What zerotax record --json writes: what zeroing cost a program and its descendants. JSON Schema cannot "
         "express that the totals are sums over the processes, that these are sums over their threads, and that "
         "redundant_zeroed_bytes <= examined_zeroed_bytes <= zeroed_bytes.");
  HEAD_FIELDS("zerotax.record/1",
              "The command line of the program; empty with --cgroup and --all, where there are several.");
  FIELD(
      Json, allocator, "The allocator that replaced the program's own (--allocator), or null.",
      with(
          R"({"anyOf": [{"type": "null"}, {"$ref": "run.schema.json#/$defs/allocator", "properties": {"preload": {"not": {"type": "null"}}}}]})"));
  FIELD(RunResult, run, "The program's run as a whole.");
  FIELD(Rule, rule, "What the recorder examines.");
  FIELD(Tax, tax, "What zeroing cost the run. All shares have cpu_ns as their denominator; the rows do not overlap.",
        kLater);
  FIELD(Totals, totals, "Sums over all processes.");
  FIELD(std::vector<SizeRow>, histogram,
        "Histogram by powers of two of the requested size (by hand: of the store), ascending; sizes that did not occur "
        "are left out.");
  FIELD(std::vector<RecordedSite>, sites,
        "Call stacks of all processes together, those with the most bytes first: zeroed there, zeroed by the kernel of "
        "blocks got there, or returned there.");
  FIELD(
      Count, kernel_zeroed_elsewhere_bytes,
      "What the kernel zeroed and no site has: stacks, data, mappings of the program itself, records of the allocator, "
      "and small blocks of a process too few of which were looked at (8). Of the processes whose kernel part is known.",
      kLater);
  FIELD(std::vector<InterpreterNames>, script_names,
        "Interpreters that ran, and where the names of their scripts' functions come from. Absent from earlier files.",
        kLater);
  FIELD(std::vector<RecordedProcess>, processes,
        "Every process that was recorded, in the order in which they began; a program started by exec has its own "
        "entry.");
  FIELD(std::vector<NotFollowed>, not_followed,
        "Programs that were started but left no recording: a row for each program and reason.");
  FIELD(std::uint64_t, lost_processes, "Number of processes for which the recording had no room.");
  FIELD(std::uint64_t, arena_bytes, "Bytes of shared memory that the recording took up at its end.", kLater);
  FIELD(std::optional<Outside>, outside,
        "Only of a program that was recorded from outside: without zerotax's library in it, by what the kernel counts "
        "and samples.");
  FIELD(std::optional<StoreSizes>, store_sizes, "With --sizes: every call of functions that store zeros, by uprobes.");
};

/// The summary for the terminal: 80 columns.
std::string record_text(const Record& record);

/// What to do next, as a command to paste: remedies for the program, if its zeroing costs enough. Else empty.
std::string next_step(const Record& record);

/// The object "zerotax.record/1".
Json record_json(const Record& record);
Record read_record(const Json& json);

}  // namespace zerotax::record
