#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "observe/interpreter.h"
#include "observe/symbols.h"
#include "record/forks.h"
#include "record/huge_bill.h"
#include "record/resident/result.h"
#include "record/tax_parts.h"

namespace zerotax::record {

/// Returns the kind in words: calloc, realloc, by hand, malloc, free, purge, program, memset or fault.
const char* kind_text(SiteKind kind);

struct SampledSite {
  RESULT("sampled site", "Estimates of calls that were only sampled.");
  FIELD(std::uint64_t, zeroed_bytes, "Estimated bytes that the calls zeroed.");
  FIELD(std::uint64_t, redundant_zeroed_bytes,
        "The redundant part of zeroed_bytes, by the share found in the examined stores. Includes the redundant "
        "part of large by_program stores that were not examined, by the share in the examined stores of this "
        "site.");
  FIELD(std::uint64_t, kernel_zeroed_bytes,
        "Kernel-zeroed bytes of smaller blocks from this site, estimated from examined calls: the pages that a call "
        "populated, and the unpopulated pages of its block. The sum of these bytes and of kernel_zeroed_bytes of all "
        "sites is at most the process's kernel-zeroed bytes.",
        kLater);
  FIELD(std::optional<std::uint64_t>, calls,
        "Estimated number of further calls of rule.large_bytes or more: calls that got populated memory, and calls "
        "that cleared other memory without being examined. After a thread's first 4,096 such calls, one in 32, chosen "
        "at random, counts as 32.");
  FIELD(LowHigh, kernel_interval_bytes,
        "The 95 % interval of kernel_zeroed_bytes, for a program recorded without zerotax's library.");
  FIELD(std::optional<std::uint64_t>, return_calls,
        "Estimated number of calls that return memory (munmap, madvise, brk, mremap), for a program recorded by root "
        "without zerotax's library.");
  FIELD(std::optional<std::uint64_t>, returned_at_most_bytes,
        "Bytes of anonymous memory in the ranges of return_calls. The populated part of these ranges is unknown.");
  FIELD(LowHigh, returned_interval_bytes,
        "The 95 % interval of returned_at_most_bytes. Both ends are equal if every call was seen.");
  FIELD(std::optional<std::uint64_t>, zero_cpu_ns,
        "Estimated CPU nanoseconds in functions that store zeros and that this site called, for a program recorded "
        "without zerotax's library.");
  FIELD(LowHigh, zero_cpu_interval_ns, "The 95 % interval of zero_cpu_ns.");
};

ENUM_WORDS(SiteKind, "calloc", "realloc", "by_hand", "malloc", "free", "purge", "program", "by_program", "fault")

/// Returned bytes by mechanism. Mechanisms that returned nothing are omitted.
struct ReturnedBytes {
  static constexpr const char* kSchema = R"({"type": "object",
    "propertyNames": {"enum": ["munmap", "madvise", "brk", "mremap", "mmap"]},
    "additionalProperties": {"type": "integer", "minimum": 0}})";
  std::uint64_t by[kMechanisms] = {};
};
void to_json(Json& json, const ReturnedBytes& bytes);
void from_json(const Json& json, ReturnedBytes& bytes);

struct RecordedSite {
  RESULT("site", "A call stack, and the counts of its calls.");
  FIELD(SiteKind, kind,
        "The call or store that zeroed or returned the memory. `calloc`, `realloc` and `malloc` are calls to the "
        "allocator. `by_hand` is a memset of the program right after malloc, and `by_program` a memset over other "
        "memory. `free` is a call that returned memory, `purge` a return by the allocator outside such a call, and "
        "`program` a return by the program itself. `fault` is a page fault that populated memory of a program recorded "
        "from outside; its bytes are in `sampled`.");
  FIELD(std::uint64_t, calls,
        "Exact number of calls from this site that requested, cleared or returned rule.large_bytes or more, depending "
        "on `kind`. No count of a site includes smaller calls. sampled.calls estimates further calls.");
  FIELD(std::uint64_t, requested_bytes, "Bytes requested by the calls counted in `calls`; for by_hand, bytes cleared.");
  FIELD(std::uint64_t, zeroed_bytes, "Bytes zeroed in stores of rule.large_bytes or more.");
  FIELD(std::uint64_t, redundant_zeroed_bytes, "The redundant part of zeroed_bytes.");
  FIELD(std::uint64_t, zero_ns, "Nanoseconds in stores of rule.large_bytes or more.");
  FIELD(std::uint64_t, zero_faults, "Minor faults in stores of rule.large_bytes or more.");
  FIELD(SampledSite, sampled,
        "Estimates from samples. All small stores since the thread's previous sample are attributed to the stack "
        "of the store that was examined.");
  FIELD(std::uint64_t, kernel_zeroed_bytes,
        "Bytes of large blocks from this site that were populated while the program had the blocks.", kLater);
  FIELD(std::uint64_t, refilled_bytes,
        "The part of kernel_zeroed_bytes in place of memory that had been returned before.", kLater);
  FIELD(ReturnedBytes, returned_by, "Part of returned_bytes by mechanism.", kLater);
  FIELD(std::uint64_t, returned_bytes,
        "Bytes returned to the kernel by calls from this site that returned at least rule.large_bytes each.", kLater);
  FIELD(std::vector<NamedFrame>, frames,
        "Frames of the call stack, innermost first, at most 32. The recorder's own frames are left out.");
  /// Bytes of the site's large blocks that were live at the peak of the live heap, in the process with the highest
  /// peak. Not in the document.
  std::uint64_t live_bytes = 0;
  /// Bytes of large stores and blocks, plus the estimates from samples of small stores and blocks.
  [[nodiscard]] std::uint64_t all_zeroed_bytes() const { return zeroed_bytes + sampled.zeroed_bytes; }
  [[nodiscard]] std::uint64_t all_kernel_bytes() const { return kernel_zeroed_bytes + sampled.kernel_zeroed_bytes; }
  /// Sort key of sites: the sum of the bytes that the site zeroed, the bytes that the kernel zeroed for the site's
  /// blocks, and the bytes that the site returned.
  [[nodiscard]] std::uint64_t weight() const { return all_zeroed_bytes() + all_kernel_bytes() + returned_bytes; }
};

struct RecordedThread {
  RESULT("recorded thread", "One thread, or several ended threads that were merged to save space.");
  FIELD(std::int32_t, tid, "ID of the thread.");
  FIELD(std::string, name, "Name of the thread at its first call.", kMayBeEmpty);
  FIELD(std::uint64_t, threads, "Number of threads whose metrics are merged in this entry.", least(1));
  FIELD(Metrics, figures, "Metrics of the thread.");
};

enum class Began { kExec, kFork };
ENUM_WORDS(Began, "exec", "fork")

/// Value of `ended` for a process that still ran when the program had ended.
inline constexpr const char* kRunning = "running";

struct RecordedProcess {
  RESULT("process", "One process, from its start or exec to its end or exec.");
  FIELD(std::int32_t, pid, "PID of the process.", least(1));
  FIELD(std::int32_t, parent_pid, "PID of the parent process when this process began.");
  FIELD(std::string, executable, "Path of the program; empty if /proc is not accessible.", kMayBeEmpty);
  FIELD(std::string, command,
        "The beginning of the command line, with spaces between words; empty if /proc is not accessible.", kMayBeEmpty);
  FIELD(std::string, allocator, "The library whose calloc the process calls.");
  FIELD(Began, began, "Start of the process: `exec` as a new program, or `fork` as a copy of its parent.");
  FIELD(std::int64_t, started_ns, "Nanoseconds from the start of the run to the start of the process.");
  FIELD(std::string, ended,
        "End of the process: exit, exec, the name of the signal (known only for the first process), running (still "
        "running at the end), or unknown.");
  FIELD(Measured<std::int64_t>, wall_ns, "Nanoseconds from start to end of the process.");
  FIELD(Measured<std::int64_t>, user_ns, "CPU nanoseconds in user mode.");
  FIELD(Measured<std::int64_t>, system_ns, "CPU nanoseconds in the kernel.");
  FIELD(std::vector<std::string>, gaps, "Descriptions of the parts that are missing from the metrics.");
  FIELD(Metrics, figures, "Sums over the threads of the process.");
  FIELD(KernelMetrics, kernel, "The kernel's metrics for this process.", kLater);
  FIELD(std::uint64_t, lost_blocks,
        "Number of large blocks that the recorder had no room to track. Kernel-zeroed bytes of these blocks are "
        "missing from the histogram and the sites.",
        kLater);
  FIELD(std::optional<std::uint64_t>, quiet_children,
        "Number of children of fork that neither allocated nor populated memory before their end, exec or kill. This "
        "process's counts include their page faults and CPU time. Absent if there are none.");
  FIELD(std::vector<RecordedThread>, threads, "Threads in the order of their first call.");
  Count peak_live_bytes;  ///< not in the document
  /// Bounds of peak_live_bytes in requested bytes. Not in the document.
  std::uint64_t peak_live_at_least_bytes = 0;
  Count peak_live_at_most_bytes;
  Count held_elsewhere_bytes;  ///< maximum part of the peak that was outside allocators; not in the document
};

struct NotFollowed {
  RESULT("not followed", "A program from which nothing was recorded.");
  FIELD(std::int32_t, pid, "PID of the process, or of the first of several processes.", least(1));
  FIELD(std::string, program,
        "The program as it was named to exec or posix_spawn, or the first 15 bytes of its name in the kernel.",
        kMayBeEmpty);
  FIELD(std::string, reason, "Reason why nothing was recorded.");
  MEMBER(processes, "Number of processes of this program.", least(1));
  std::uint64_t processes = 1;
  FIELD(Count, minor_faults, "Minor faults of the row's processes, as the kernel counts them.");
  FIELD(Count, cpu_ns, "CPU nanoseconds of the row's processes.");
  bool running = false;  ///< whether the program still runs at the end of the run, so that it has no counts yet; not in
                         ///< the document
};

struct RunResult {
  RESULT("run result");
  FIELD(Measured<int>, exit_status,
        "Exit status as a shell reports it: 128 + N if signal N ended the program. n/a for a process that was "
        "already running (--pid).",
        most(255));
  FIELD(OrNull<std::string>, signal, "Name of the signal that ended the program, or null.", form("^SIG"));
  FIELD(std::int64_t, wall_ns,
        "Nanoseconds from start to end of the program; with --pid, from start to end of the recording.");
  FIELD(std::int64_t, user_ns,
        "CPU nanoseconds in user mode of the program, and of the descendants that a parent waited for.");
  FIELD(std::int64_t, system_ns,
        "CPU nanoseconds in the kernel of the program, and of the descendants that a parent waited for.");
};

struct Rule {
  RESULT("rule");
  MEMBER(large_bytes,
         "Size in bytes from which every store of zeros is timed, its pages and contents are examined, and every "
         "calloc records its call stack.",
         least(1));
  std::uint64_t large_bytes = kLargeBytes;
  MEMBER(first_sample_bytes,
         "Bytes that a thread zeroes by smaller stores before the first of these stores is examined. The interval"
         " doubles with each sample.",
         least(1));
  std::uint64_t first_sample_bytes = kFirstSampleBytes;
  MEMBER(last_sample_bytes, "Maximum interval in bytes between two examined stores.", least(1));
  std::uint64_t last_sample_bytes = kLastSampleBytes;
};

/// Method by which the kernel-zeroed bytes are determined from outside.
enum class ZeroedBy : std::uint8_t {
  kCounted,  ///< a tracepoint counts each page
  kSampled,  ///< samples of minor faults show the fraction of faults that zeroed a page
  kBounded,  ///< only bounds are known: the growth of the program's memory, and a page for each fault
};
ENUM_WORDS(ZeroedBy, "counted", "sampled", "bounded")

/// Processes that zerotax watched from outside.
enum class Watched : std::uint8_t {
  kCommand,  ///< a program from its start to its end
  kProcess,
  kCgroup,
  kUser,     ///< all processes of one user
  kMachine,  ///< all processes of the machine
};
ENUM_WORDS(Watched, "command", "process", "cgroup", "user", "machine")

struct Rates {
  RESULT("rates",
         "Rates of processes that were watched for a while. A service that waits for requests has few page faults per "
         "second, and may nevertheless have many per second of its CPU time.");
  FIELD(Measured<double>, faults_per_s, "Minor faults per second of wall time.");
  FIELD(Measured<double>, faults_per_cpu_s, "Minor faults per second of CPU time.");
  FIELD(Measured<double>, refilled_bytes_per_s, "Refilled bytes per second of wall time.");
};

struct Outside {
  RESULT("outside", "Recording of a program without zerotax's library.");
  FIELD(std::string, why, "Reason why zerotax's library was not in the program.");
  MEMBER(watched,
         "The watched processes: a command, a process with its descendants, the processes of a cgroup, all "
         "processes of this user, or all processes of the machine.");
  Watched watched = Watched::kCommand;
  FIELD(std::optional<std::int32_t>, pid, "PID of the process that was watched (--pid); absent for a command.",
        least(1));
  FIELD(std::optional<std::string>, cgroup, "Path of the cgroup that was watched (--cgroup).");
  MEMBER(zeroed_by,
         "Source of totals.kernel.zeroed_bytes. `counted`: a tracepoint counts each page (root). `sampled`: samples of "
         "minor faults in user mode give the share of faults that zeroed a page. `bounded`: no fault could be "
         "sampled.");
  ZeroedBy zeroed_by = ZeroedBy::kBounded;
  FIELD(std::uint64_t, cpu_samples, "Number of samples of CPU time.");
  FIELD(std::uint64_t, fault_samples, "Number of samples of page faults.");
  FIELD(std::uint64_t, return_samples, "Number of samples of calls that return memory.");
  FIELD(std::string, why_no_returns,
        "Reason why no call that returns memory was sampled, so that sites of these calls are unknown. Empty if calls "
        "that return memory were sampled.",
        kMayBeEmpty);
  FIELD(std::uint64_t, lost_records,
        "Number of samples and other records that were lost because they were not read in time.");
  FIELD(Count, clearing_cpu_ns, "Estimated CPU nanoseconds in which the kernel cleared pages, within page faults.");
  FIELD(LowHigh, clearing_interval_ns, "The 95 % interval of clearing_cpu_ns.");
  FIELD(std::optional<Rates>, rates, "Rates; absent for a command that was watched from its start to its end.");
  FIELD(bool, advisable, "Whether zerotax advise can start the program.");
  FIELD(std::vector<std::string>, notes, "Limitations of the numbers, one sentence each.");
};

struct SizeClass {
  RESULT("size class",
         "Calls that stored at least from_bytes, a power of two, and less than twice that; if from_bytes is 0, "
         "calls that stored no bytes.");
  FIELD(std::uint64_t, from_bytes, "Smallest number of bytes that a call in this row stored: a power of two, or 0.");
  FIELD(std::uint64_t, calls, "Number of calls in this row.", least(1));
  FIELD(std::uint64_t, bytes, "Bytes stored by the calls in this row.");
};

struct StoreCaller {
  RESULT("store caller", "A caller of a function that stores zeros.");
  FIELD(NamedFrame, frame, "A code location in a program.");
  FIELD(std::string, function, "The function that was called.", kMayBeEmpty);
  FIELD(std::uint64_t, calls, "Number of calls that stored zeros.", least(1));
  FIELD(std::uint64_t, bytes, "Bytes stored by `calls`.");
  FIELD(std::uint64_t, smallest_bytes, "Smallest number of bytes that one call stored.");
  FIELD(std::uint64_t, largest_bytes, "Largest number of bytes that one call stored.");
  FIELD(std::vector<SizeClass>, sizes,
        "Calls by size, from a power of two to less than its double; with from_bytes 0, calls that stored no "
        "bytes.");
};

struct StoreSizes {
  RESULT("store sizes", "Counts of every call to functions that store zeros, by uprobes (--sizes).");
  FIELD(std::uint64_t, calls, "Number of calls that stored zeros.");
  FIELD(std::uint64_t, bytes, "Bytes stored by `calls`.");
  FIELD(std::uint64_t, other_bytes_calls, "Number of calls to memset with a byte other than zero.");
  FIELD(std::uint64_t, lost_calls,
        "Number of calls that were not read in time. If it is not 0, the other counts are lower bounds.");
  FIELD(std::vector<std::string>, functions, "Functions that were watched.", kMayBeEmpty);
  FIELD(std::vector<std::string>, unwatched,
        "Functions whose calls are missing, because no breakpoint is safe on them.", kMayBeEmpty);
  FIELD(std::vector<StoreCaller>, callers, "Callers of the watched functions, in descending order of bytes.");
};

struct Record : DocumentHead {
  RESULT("zerotax record",
         "The document of zerotax record --json: the cost of zeroing of a program and its descendants. JSON "
         "Schema cannot express two facts: the totals are sums over the processes, which are sums over their "
         "threads; and redundant_zeroed_bytes <= examined_zeroed_bytes <= zeroed_bytes.");
  HEAD_FIELDS("zerotax.record/1",
              "The command line of the program; empty with --cgroup and --all, which record several programs.");
  FIELD(
      Json, allocator, "The allocator that replaced the program's own (--allocator), or null.",
      with(
          R"({"anyOf": [{"type": "null"}, {"$ref": "run.schema.json#/$defs/allocator", "properties": {"preload": {"not": {"type": "null"}}}}]})"));
  FIELD(RunResult, run, "The program's run as a whole.");
  FIELD(Rule, rule, "The rules by which the recorder examines stores.");
  FIELD(Tax, tax,
        "The cost of zeroing in the run. The denominator of all shares is cpu_ns, and the rows do not overlap.",
        kLater);
  FIELD(Totals, totals, "Sums over all processes.");
  FIELD(std::vector<SizeRow>, histogram,
        "Histogram by powers of two of the requested size (for stores by hand, of the store's size), ascending. "
        "Sizes that did not occur are left out.");
  FIELD(std::vector<RecordedSite>, sites,
        "Call stacks of all processes together, in descending order of the bytes that their calls zeroed or returned, "
        "or the kernel zeroed for their blocks.");
  FIELD(Count, kernel_zeroed_elsewhere_bytes,
        "Kernel-zeroed bytes without a site, in processes whose kernel metrics are known: stacks, data, the program's "
        "own mappings, and the allocator's own data. Small blocks of a process with fewer than 8 examined calls are "
        "included, too.",
        kLater);
  FIELD(std::vector<InterpreterNames>, script_names,
        "Interpreters that ran, and the source of function names in their scripts. Absent from earlier files.", kLater);
  FIELD(std::vector<RecordedProcess>, processes,
        "All recorded processes, in the order of their start. A program started by exec has its own entry. The "
        "parent's `quiet_children` counts children of fork that neither allocated nor populated memory.");
  FIELD(std::vector<NotFollowed>, not_followed,
        "Programs that were started but left no recording, with a row for each program and reason.");
  FIELD(std::uint64_t, lost_processes, "Number of processes for which the recording had no room.");
  FIELD(std::uint64_t, arena_bytes, "Bytes of shared memory that the recording took up at its end.", kLater);
  FIELD(std::optional<HugeBill>, huge_pages,
        "Use of transparent huge pages; absent if the processes had none, or were recorded from outside.");
  FIELD(std::optional<Forks>, forks,
        "Processes that the program and its descendants started. Absent if there are none, for running processes, and "
        "from earlier files. Without zerotax's library, no calls are seen.");
  FIELD(std::optional<Outside>, outside,
        "Present only if the program was recorded without zerotax's library, by the kernel's counts and samples.");
  FIELD(std::optional<StoreSizes>, store_sizes,
        "With --sizes: every call to functions that store zeros, counted by uprobes.");
  FIELD(std::optional<Resident>, resident,
        "With --resident: the resident memory of each process at some moments, divided into live blocks, freed memory "
        "and other parts.");
};

/// Conversions to and from the document "zerotax.record/1".
Json record_json(const Record& record);
Record read_record(const Json& json);

}  // namespace zerotax::record
