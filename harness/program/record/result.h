#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "observe/interpreter.h"
#include "observe/symbols.h"
#include "record/preload/arena.h"

namespace zerotax::record {

/// A cause that takes a smaller share of the CPU time is not worth anybody's time.
inline constexpr double kNoticed = 0.01;

/// Who zeroed, or caused it: the kernel's part first, then the allocator's, then the program's.
enum class Cause {
  kFresh,
  kRefilled,
  kReturning,
  kUnseen,
  kRedundant,
  kNeeded,
  kUnexamined,
  kInFree,
  kByHand,
  kByProgram,
  kStores
};

/// fresh, refilled, returning, unseen, redundant, needed, unexamined, in_free, by_hand, by_program, stores: as a
/// recording has them.
const char* cause_name(Cause cause);

/// calloc, realloc, by hand, malloc, free, purge, program, memset, fault: in words, for people.
const char* kind_text(SiteKind kind);

/// munmap, madvise, brk, mremap or mmap.
const char* mechanism_name(std::size_t mechanism);

// The fields below are the keys of results/schema/record.schema.json, which describes them, unless they say otherwise.

using Count = Measured<std::uint64_t>;

struct Zeroing {
  Count zeroing_stores;
  Count zeroed_bytes;
  Count redundant_zeroed_bytes;
  std::uint64_t examined_zeroed_bytes = 0;
  Count zero_ns;
  Count zero_cpu_ns;
  Count zero_faults;
  std::uint64_t timed_zeroed_bytes = 0;
};

struct SmallSamples {
  std::uint64_t stores = 0;
  std::uint64_t bytes = 0;
  std::uint64_t redundant_bytes = 0;
};

struct UnseenCalls {
  std::uint64_t calls = 0;
  std::uint64_t populated_bytes = 0;
};

struct HugeBlocks {
  std::uint64_t freed = 0;
  std::uint64_t examined_bytes = 0;
  std::uint64_t written_bytes = 0;
};

/// The lowest and the highest value of bytes of which an estimate is part.
using IntervalBytes = std::optional<std::array<std::uint64_t, 2>>;

struct ReturnedBy : ReturnRow {
  ReturnCause by{};
  Mechanism mechanism{};
};

struct Returned {
  Count calls;
  Count bytes;
  Count cpu_ns;
  std::uint64_t sampled_calls = 0;
  std::vector<ReturnedBy> rows;
  IntervalBytes interval_bytes;
};

/// Sums of what threads did: `figures`, and most of `totals`.
struct Metrics : Zeroing {
  Count calloc_calls;
  Count requested_bytes;
  Count malloc_calls;
  Count malloc_bytes;
  Count realloc_calls;
  Count realloc_bytes;
  Zeroing by_hand;
  Zeroing by_program;
  SmallSamples small_samples;
  UnseenCalls unseen;
  Zeroing in_free;
  Count free_calls;
  Count mapping_calls;  ///< not in the document
  std::uint64_t by_hand_aligned_bytes =
      0;  ///< of by_hand.timed_zeroed_bytes: in over-aligned blocks; not in the document
  Count zeroed_in_calloc_bytes = std::uint64_t{0};  ///< of zeroed_bytes; not in the document
  Returned returned;
  Count offered_bytes;
  HugeBlocks huge_blocks;
  std::uint64_t own_ns = 0;
  std::uint64_t own_cpu_ns = 0;
};

struct KernelMetrics {
  Count zeroed_bytes;
  Count huge_bytes;
  Count fresh_bytes;
  Count refilled_bytes;
  Count returned_bytes;
  Count peak_bytes;
  Count zero_fill_faults;
  Count minor_faults;
  std::uint64_t minor_faults_at_least = 0;
  IntervalBytes zeroed_interval_bytes;
  Count fault_cpu_ns;
  std::uint64_t zeroed_at_least_bytes = 0;
  Count zeroed_at_most_bytes;
  IntervalBytes refilled_interval_bytes;
};

struct Totals : Metrics {
  KernelMetrics kernel;
  Measured<double> share_of_wall;
  Measured<double> share_of_cpu;
};

struct SizeRow {
  std::uint64_t from_bytes = 0;
  std::uint64_t below_bytes = 0;
  std::uint64_t calloc_calls = 0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t malloc_calls = 0;
  std::uint64_t realloc_calls = 0;
  std::uint64_t zeroed_bytes = 0;
  Count redundant_zeroed_bytes;
  std::uint64_t by_hand_zeroed_bytes = 0;
  Count by_hand_redundant_zeroed_bytes;
  // Of large blocks.
  std::optional<std::uint64_t> unpopulated_blocks;
  std::optional<std::uint64_t> kernel_zeroed_bytes;
  std::optional<std::uint64_t> refilled_bytes;
  std::optional<std::uint64_t> returned_bytes;
};

/// What samples of small blocks stand for.
struct SampledSite {
  std::uint64_t zeroed_bytes = 0;
  std::uint64_t redundant_zeroed_bytes = 0;
  std::uint64_t kernel_zeroed_bytes = 0;
  std::optional<std::uint64_t> calls;
  IntervalBytes kernel_interval_bytes;
  // From outside.
  std::optional<std::uint64_t> return_calls;
  std::optional<std::uint64_t> returned_at_most_bytes;
  IntervalBytes returned_interval_bytes;
  std::optional<std::uint64_t> zero_cpu_ns;
  std::optional<std::array<std::uint64_t, 2>> zero_cpu_interval_ns;
};

/// Those that are not 0.
struct ReturnedBytes {
  std::uint64_t by[kMechanisms] = {};
};

struct RecordedSite {
  SiteKind kind{};
  std::uint64_t calls = 0;
  std::uint64_t requested_bytes = 0;
  std::uint64_t zeroed_bytes = 0;
  std::uint64_t redundant_zeroed_bytes = 0;
  std::uint64_t zero_ns = 0;
  std::uint64_t zero_faults = 0;
  SampledSite sampled;
  std::uint64_t kernel_zeroed_bytes = 0;
  std::uint64_t refilled_bytes = 0;
  ReturnedBytes returned_by;
  std::uint64_t returned_bytes = 0;
  /// Of large blocks got here: live at the peak of the live heap, of the process with the highest. Not in the document.
  std::uint64_t live_bytes = 0;
  std::vector<NamedFrame> frames;

  /// Large stores and blocks, and what samples of small ones stand for.
  [[nodiscard]] std::uint64_t all_zeroed_bytes() const { return zeroed_bytes + sampled.zeroed_bytes; }
  [[nodiscard]] std::uint64_t all_kernel_bytes() const { return kernel_zeroed_bytes + sampled.kernel_zeroed_bytes; }
  /// Its place among the others: bytes zeroed at it, by the kernel of blocks got at it, and returned at it.
  [[nodiscard]] std::uint64_t weight() const { return all_zeroed_bytes() + all_kernel_bytes() + returned_bytes; }
};

struct RecordedThread {
  std::int32_t tid = 0;
  std::string name;
  std::uint64_t threads = 0;
  Metrics figures;
};

enum class Began { kExec, kFork };

/// `ended` of a process that was still there when the program had ended.
inline constexpr const char* kRunning = "running";

struct RecordedProcess {
  std::int32_t pid = 0;
  std::int32_t parent_pid = 0;
  std::string executable;
  std::string command;
  std::string allocator;
  Began began{};
  std::int64_t started_ns = 0;
  std::string ended;
  Measured<std::int64_t> wall_ns;
  Measured<std::int64_t> user_ns;
  Measured<std::int64_t> system_ns;
  std::vector<std::string> gaps;
  Metrics figures;
  KernelMetrics kernel;
  std::uint64_t lost_blocks = 0;
  Count peak_live_bytes;  ///< not in the document
  /// Bounds of peak_live_bytes, in requested bytes. Not in the document.
  std::uint64_t peak_live_at_least_bytes = 0;
  Count peak_live_at_most_bytes;
  Count held_elsewhere_bytes;  ///< the most of the peak that allocators did not hold; not in the document
  std::vector<RecordedThread> threads;
};

/// A program that ran and recorded nothing.
struct NotFollowed {
  std::int32_t pid = 0;
  std::string program;
  std::string reason;
  std::uint64_t processes = 1;
  Count minor_faults;
  Count cpu_ns;
  bool running = false;  ///< at the end of the run, so that nothing of it was counted yet: no key
};

/// One cause of zeroing in a run.
struct TaxRow {
  Cause cause{};
  Count bytes;
  OrNull<std::uint64_t> faults;
  Count cpu_ns;
  Measured<double> share_of_cpu;
  bool estimated = false;
  std::uint64_t at_least_cpu_ns = 0;
  std::optional<Count> at_most_cpu_ns;
  std::optional<Count> at_most_bytes;
  std::optional<std::array<std::uint64_t, 2>> cpu_interval_ns;
};

struct OtherFaults {
  std::uint64_t faults = 0;
  std::uint64_t estimated_cpu_ns = 0;
  bool capped = false;  ///< limited to the CPU time that the causes left; not in the document
  bool noticed = false;
};

/// Nothing, unless something was added.
struct NotRecorded {
  std::uint64_t processes = 0;
  Count minor_faults = std::uint64_t{0};
  Count cpu_ns = std::uint64_t{0};
  bool noticed = false;
};

/// A use of memory or time that does not count as zeroing here.
enum class Beside { kSharedMemory, kZeroPages, kCopiedInFork, kExit, kThrottled };

/// One use of memory or time, with its bytes or its time.
struct BesideRow {
  Beside what{};
  std::optional<Count> bytes;
  std::optional<Count> ns;
  bool noticed = false;
  std::optional<bool> at_least = std::nullopt;  ///< the value is a lower bound
};

struct FaultCost {
  Measured<double> base_ns_per_byte;
  Measured<double> huge_ns_per_byte;
  std::uint64_t samples = 0;
  std::string measured_in;
};

/// What zeroing cost a run. Every share has `cpu_ns` as its denominator, and the rows add up to it at most.
struct Tax {
  std::uint64_t cpu_ns = 0;
  std::uint64_t recorder_cpu_ns = 0;
  Count zeroing_cpu_ns;
  Count kernel_cpu_ns;
  Measured<double> share_of_cpu;
  std::uint64_t zeroing_at_least_cpu_ns = 0;
  Count zeroing_at_most_cpu_ns;
  std::optional<std::array<std::uint64_t, 2>> zeroing_cpu_interval_ns;
  bool capped = false;
  std::vector<TaxRow> rows;
  OtherFaults other_faults;
  std::optional<std::vector<BesideRow>> beside;
  NotRecorded not_recorded;
  bool timing_changed = false;
  bool emulated_cpu = false;
  std::uint64_t kernel_unknown_processes = 0;
  FaultCost fault_cost;
  std::string advice;
  // Not in the document:
  std::optional<Cause> advice_about;   ///< the cause that costs most, if it takes enough
  bool advice_is_for_program = false;  ///< advises to change the program, not its allocator or environment
};

struct RunResult {
  Measured<int> exit_status = 0;
  OrNull<std::string> signal;
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
};

struct Rule {
  std::uint64_t large_bytes = kLargeBytes;
  std::uint64_t first_sample_bytes = kFirstSampleBytes;
  std::uint64_t last_sample_bytes = kLastSampleBytes;
};

/// How it is known from outside what the kernel zeroed.
enum class ZeroedBy : std::uint8_t {
  kCounted,  ///< each page, by a tracepoint
  kSampled,  ///< minor faults, divided as samples of them say
  kBounded,  ///< between the growth of what the program holds, and a page for each fault
};

/// What was watched from outside.
enum class Watched : std::uint8_t {
  kCommand,  ///< a program from its start to its end
  kProcess,
  kCgroup,
  kUser,     ///< all processes of a user
  kMachine,  ///< all
};

/// How a program was recorded that zerotax's library is not in.
struct Outside {
  std::string why;  ///< it is not
  Watched watched = Watched::kCommand;
  std::optional<std::int32_t> pid;
  std::optional<std::string> cgroup;
  ZeroedBy zeroed_by = ZeroedBy::kBounded;
  std::uint64_t cpu_samples = 0;
  std::uint64_t fault_samples = 0;
  std::uint64_t return_samples = 0;
  std::string why_no_returns;  ///< why no call that returns memory was sampled; empty: they were
  std::uint64_t lost_records = 0;
  Count clearing_cpu_ns;
  std::optional<std::array<std::uint64_t, 2>> clearing_interval_ns;
  bool advisable = false;  ///< zerotax advise can start it with settings, and a library
  std::vector<std::string> notes;
};

/// Calls that stored at least this many bytes, a power of two, and less than twice as many; or none.
struct SizeClass {
  std::uint64_t from_bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
};

/// Who called a function that stores zeros.
struct StoreCaller {
  NamedFrame frame;
  std::string function;  ///< the one that was called: "memset"
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t smallest_bytes = 0;
  std::uint64_t largest_bytes = 0;
  std::vector<SizeClass> sizes;
};

/// Every call of functions that store zeros, from outside (--sizes).
struct StoreSizes {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t other_bytes_calls = 0;  ///< of memset, with another byte than zero
  std::uint64_t lost_calls = 0;         ///< calls that were not read in time: the other figures are then a lower bound
  std::vector<std::string> functions;   ///< functions that were watched
  std::vector<std::string> unwatched;   ///< functions on which no breakpoint is safe: their calls are unknown
  std::vector<StoreCaller> callers;     ///< most bytes first
};

/// Everything about one recorded run: the object "zerotax.record/1".
struct Record : DocumentHead {
  Json allocator;
  RunResult run;
  Rule rule;
  Tax tax;
  Totals totals;
  std::vector<SizeRow> histogram;
  std::vector<RecordedSite> sites;
  Count kernel_zeroed_elsewhere_bytes;
  std::vector<InterpreterNames> script_names;
  std::vector<RecordedProcess> processes;
  std::vector<NotFollowed> not_followed;
  std::uint64_t lost_processes = 0;
  std::uint64_t arena_bytes = 0;
  std::optional<Outside> outside;
  std::optional<StoreSizes> store_sizes;
};

/// The summary for the terminal: 80 columns.
std::string record_text(const Record& record);

/// What to do next, as a command to paste: remedies for the program, if its zeroing costs enough. Else empty.
std::string next_step(const Record& record);

}  // namespace zerotax::record
