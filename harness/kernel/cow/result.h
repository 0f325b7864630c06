#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "base/json.h"
#include "cow/sharing.h"
#include "observe/fault_data.h"

namespace zerotax::cow {

/// The watched process, and the method of watching.
struct CowSubject {
  std::vector<std::string> command;  ///< empty for a running process
  pid_t pid = 0;                     ///< PID of the first watched process
  std::string counted;               ///< the processes that count: "all", "first child", or "name NAME"
  double interval_s = 1;
  double wall_s = 0;
  int exit_status = 0;
  std::string started;
  std::optional<std::uint64_t>
      minor_faults;  ///< the kernel's count (ForegroundResult::all_minor_faults); no value if unknown
};

using Count = Measured<std::uint64_t>;

struct Counts {
  RESULT("counts", "Faults by class.");
  FIELD(std::uint64_t, copies, "Faults that copied a page (copy-on-write).");
  FIELD(std::uint64_t, reuses, "Write-protect faults that copied nothing.");
  FIELD(std::uint64_t, zero_fills, "Faults that populated a page of zeros; a huge page is one fault.");
  FIELD(Count, refills,
        "Zero-fills of pages that the process had populated before and returned to the kernel. A lower bound, because "
        "the process may populate memory again at another address. n/a if not every fault was recorded. Absent from "
        "earlier files.",
        kLater);
  FIELD(std::uint64_t, file_faults, "Faults that mapped pages of a file or of shared memory.");
  FIELD(std::uint64_t, other,
        "Other faults: reads that map the shared zero page, pages from swap, hugetlbfs, and faults that ended in a "
        "signal.");
  FIELD(Count, kernel,
        "Faults that the kernel took on behalf of a system call, such as read(2) into a shared page. The counts by "
        "class include these faults. n/a if the method does not see them.");
  FIELD(std::uint64_t, copied_bytes, "Bytes of the pages that were copied.");
  FIELD(Count, zeroed_bytes, "Bytes of the pages that the kernel zeroed.");
  FIELD(Count, copy_ns, "Nanoseconds of all faults that copied a page, including the time of tracing.");
};

struct Totals : Counts {
  RESULT("totals");
  BASE_FIELDS(Counts);
  FIELD(std::uint64_t, lost,
        "Number of events that were lost because they were not read in time. Lost events make the counts too low, "
        "unless faults were sampled.");
  FIELD(Count, handled,
        "Faults that the kernel handled for the watched processes, by the kernel's own counters (minor and major; for "
        "an ordinary user only faults in user mode). The count is exact, whether or not every fault was recorded. n/a "
        "if some of the processes are left out. Absent from earlier files.",
        kLater);
};

struct Memory {
  RESULT("memory");
  FIELD(Count, rss_bytes, "Resident bytes (/proc/PID/statm).");
  FIELD(Count, pss_bytes,
        "Resident bytes, each page divided by the number of processes that map it (/proc/PID/smaps_rollup).");
  FIELD(Count, vsz_bytes, "Mapped bytes (/proc/PID/statm).");
};

enum class MappingKind { kHeap, kStack, kFile, kAnonymous, kSpecial, kUnknown };
ENUM_WORDS(MappingKind, "heap", "stack", "file", "anonymous", "special", "unknown")

struct Mapping {
  RESULT("mapping", "Faults on one mapping of a process.");
  FIELD(std::uint64_t, begin, "First address; 0 if the mapping is unknown.");
  FIELD(std::uint64_t, end,
        "Highest end that the mapping reached (one past the last address); 0 if the mapping is unknown.");
  FIELD(MappingKind, kind,
        "Kind of mapping: heap is grown by brk, file is any file, and special is another mapping that the kernel names "
        "in "
        "brackets.");
  FIELD(std::string, name, "Path, or the kernel's name in brackets; empty if anonymous.", kMayBeEmpty);
  FIELD(Counts, counts, "Faults on the mapping.");
};

struct Process : Memory {
  RESULT("process", "A process of the run.");
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(pid_t, parent, "PID of the process that forked it; 0 for the first process watched.");
  FIELD(std::string, name, "Last short name (comm) of the process.", kMayBeEmpty);
  FIELD(Counts, counts, "Faults of the process.");
  BASE_FIELDS(Memory);
  FIELD(std::vector<Mapping>, mappings, "The mappings that took faults, by address.");
};

struct IntervalProcess : Memory {
  RESULT("process of an interval", "A process during one interval.");
  FIELD(pid_t, pid, "PID of the process.", least(1));
  FIELD(bool, child, "Whether the process was forked by another watched process.");
  FIELD(Counts, counts, "Faults of the process in the interval.");
  BASE_FIELDS(Memory);
  FIELD(std::optional<Sharing>, sharing, "Memory that the process shares since a fork. Absent from earlier files.");
};

struct Interval {
  RESULT("interval", "Faults and processes of one interval of time.");
  FIELD(double, from_s, "Start of the interval, in seconds since watching began.");
  FIELD(double, to_s, "End of the interval, in seconds since watching began.");
  FIELD(std::optional<std::uint64_t>, began,
        "Number of children that started in the interval. Absent from earlier files.");
  FIELD(std::optional<std::uint64_t>, ended,
        "Number of children that ended in the interval. Absent from earlier files.");
  FIELD(Counts, counts, "Faults in the interval.");
  FIELD(std::vector<IntervalProcess>, processes,
        "The processes that faulted in the interval, or were alive at the end of the interval.");
  FIELD(Measured<SharedPss>, pss,
        "PSS of all processes together. n/a if processes are left out, or if the PSS of one of them was not read. "
        "Absent from earlier files.",
        kLater);
};

struct FaultsFile {
  RESULT("file of faults");
  FIELD(std::string, path, "Path of the file; - is standard output.");
  FIELD(std::uint64_t, written, "Number of faults in the file, one per line (fault.schema.json).");
  FIELD(std::uint64_t, not_written, "Number of faults that could not be written.");
  FIELD(std::string, problem, "The reason why faults are missing; empty if all faults were written.", kMayBeEmpty);
};

struct HalfWidths {
  RESULT("half widths");
  FIELD(Count, copies, "Half the width of the confidence interval of copies.");
  FIELD(Count, reuses, "Half the width of the confidence interval of reuses.");
  FIELD(Count, zero_fills, "Half the width of the confidence interval of zero-fills.");
};

struct Sampling {
  RESULT("sampling");
  FIELD(std::uint64_t, recorded, "Number of faults that were recorded one by one.");
  FIELD(std::uint64_t, windows, "Number of time windows, at random moments, in which every fault was recorded.",
        least(1));
  FIELD(HalfWidths, half_width_95,
        "Half the widths of the 95 % confidence intervals of the totals; n/a with fewer than ten windows.");
};

struct Forks {
  RESULT("forks", "The processes that were started in one way.");
  FIELD(ForkWay, way,
        "The way by the flags of clone(2): `fork` copies the page tables, `vfork` shares memory while the parent waits "
        "(also posix_spawn), and `clone_vm` shares memory while the parent runs.");
  FIELD(std::uint64_t, processes, "Number of started processes.", least(1));
  FIELD(std::uint64_t, kernel_ns,
        "Nanoseconds from the system calls to the starts of the children, including the time of tracing.");
  FIELD(std::uint64_t, longest_ns, "Nanoseconds of the longest call.");
  FIELD(Count, page_tables,
        "Page tables that the calls allocated, with a few other zeroed pages of the kernel for each process.");
  FIELD(Count, copied_pages,
        "Pages that the calls themselves copied, without a fault, because the pages are pinned for a device.");
};

struct Bound {
  RESULT("bound", "The smallest and the largest possible value of a count.");
  FIELD(std::optional<std::uint64_t>, at_least,
        "The smallest possible number of faults; absent if software events were used.");
  FIELD(Count, at_most, "The largest possible number of faults; n/a if a process was not watched to its end.");
};

struct Bounds {
  RESULT("bounds");
  FIELD(Bound, copies, "Bounds of the number of copies.");
  FIELD(Bound, zero_fills, "Bounds of the number of zero-fills.");
};

struct InSystemCalls {
  RESULT("in system calls");
  FIELD(std::uint64_t, copies, "Number of pages that the kernel allocated without clearing.");
  FIELD(std::uint64_t, zero_fills, "Number of pages that the kernel cleared.");
};

struct Unwatched {
  RESULT("unwatched");
  FIELD(pid_t, pid, "PID of the process.");
  FIELD(std::string, name, "Short name of the program.", kMayBeEmpty);
  FIELD(Count, faults,
        "Upper bound of the faults that the process took before it was watched again; these faults are missing. "
        "n/a if the process was not watched again, which only root can do.");
};

struct Stacks {
  RESULT("stacks");
  FIELD(std::uint64_t, taken, "Faults that were recorded with their stacks.");
  FIELD(std::uint64_t, lost, "Faults without a stack, because the kernel dropped it.");
  FIELD(std::uint64_t, skipped, "Faults in `taken` whose stack was not unwound for lack of time.");
};

struct Code {
  RESULT("code", "Faults that one function caused.");
  FIELD(std::string, function,
        "Name of the function that took the fault, demangled; its address if no symbol is known. With --stacks, "
        "the name of the script's function, or of the function that called the C library.");
  FIELD(std::string, module,
        "File name of the program, library, script or kernel; perf map for an interpreter's code without a file; "
        "empty if unknown.",
        kMayBeEmpty);
  FIELD(Counts, counts, "Faults that the function took.");
  FIELD(std::optional<std::string>, through,
        "The C library's function, such as memset, that took the fault when `function` called it. Absent if `function` "
        "itself took the fault.");
  FIELD(std::optional<std::string>, after,
        "Nearest exported function before the code, if the file has no symbol for the function itself; otherwise "
        "absent.");
};

struct CopyingEnd {
  RESULT("end of copying");
  FIELD(double, at_s,
        "End of the interval in which the child reached 95 % of its copies, in seconds since watching began.");
  FIELD(double, child_from_s, "Start of the child's first interval, in seconds since watching began.");
  FIELD(double, child_to_s, "End of the child's last interval, in seconds since watching began.");
  FIELD(std::uint64_t, copies_until, "The child's copies until at_s.");
  FIELD(std::uint64_t, copies_after, "The child's copies after at_s.");
  FIELD(std::uint64_t, zero_fills_until, "Pages of zeros that the child received until at_s.");
  FIELD(std::uint64_t, zero_fills_after, "Pages of zeros that the child received after at_s.");
  bool operator==(const CopyingEnd&) const = default;
};

enum class Method { kTracepoints, kSoftware };
ENUM_WORDS(Method, "tracepoints", "software")

/// A note for several processes: fork can copy pages without a fault.
inline constexpr const char* kCopiedByFork =
    "Not counted: pages pinned for a device (VmPin in /proc/PID/status), which fork itself copies without a fault.";

/// Statements about the counts (verdict.cc). The earliest files lack these fields.
struct Verdict {
  RESULT("verdict");
  FIELD(
      Measured<CopyingEnd>, copying_ended,
      "The end of copying by the only child (95 % of the child's copies), and the child's new memory before and after "
      "that end. n/a unless the end lies in the first half of the child's intervals. Absent from earlier files.",
      kLater);
  FIELD(std::optional<std::string>, sentence,
        "One sentence with the number of copied pages, the processes that copied, and the end of copying.");
  FIELD(std::optional<std::vector<std::string>>, notes, "Notes needed to read the counts, a sentence each.");
};

struct Cow : Verdict, DocumentHead {
  RESULT("zerotax cow",
         "The document that zerotax cow --json writes: page faults of a process and of every process it forked. JSON "
         "Schema cannot express that processes, intervals and code each add up to the totals.");
  HEAD_FIELDS("zerotax.cow/1", "The command line of the program; empty if zerotax attached to a running process.");
  FIELD(pid_t, pid, "PID of the first process watched.", least(1));
  FIELD(int, exit_status,
        "Exit status of the program, as a shell reports it: 128 + N if signal N ended it. 0 if zerotax attached "
        "to a running process.",
        most(255));
  FIELD(Method, method, "Method of observing and classifying faults (docs/cow.md).");
  FIELD(std::string, counted, "The counted processes: 'all', 'first child', or 'name PREFIX'.");
  FIELD(double, interval_s, "Length of an interval in seconds; the last interval may be shorter.");
  FIELD(double, wall_s, "Duration of watching, in seconds.");
  FIELD(std::uint64_t, buffer_bytes,
        "Size of the kernel's event buffer per CPU, in bytes: the smallest that was obtained.", least(4096));
  FIELD(OrNull<FaultsFile>, faults_file, "The file that --faults wrote; null if there is none.");
  FIELD(Totals, totals, "Numbers of all counted faults.");
  FIELD(Measured<Sampling>, sampling,
        "The sample of faults, if there were too many faults to record each one. Faults outside the sample are divided "
        "among classes, processes, mappings and functions in the proportions of the next recorded faults. n/a if every "
        "fault was recorded. Absent from earlier files.",
        kLater);
  FIELD(Measured<Bounds>, bounds,
        "Bounds of totals that are not exact. Software events give bounds for faults in user mode. A page dropped "
        "after its last classification counts as copied although it was zero-filled, and pages of an ended process are "
        "unknown. Tracepoints give no bounds (n/a) unless events were lost, faults were sampled, a process was partly "
        "unwatched, or system calls may have copied pages. Absent from earlier files.",
        kLater);
  FIELD(Count, unclassified,
        "Minor faults of the program, and of descendants it waited for, that no exception reported. Causes are "
        "MAP_POPULATE, mlock and process_vm_writev. 0 if each process took only the faults of its own start. Earlier "
        "versions counted only the faults of the program itself. Absent from earlier files.",
        kLater);
  FIELD(Measured<InSystemCalls>, in_system_calls,
        "Upper bounds of the pages that were copied or zero-filled without a page fault, and that are missing from the "
        "counts. Causes are get_user_pages (MADV_POPULATE_WRITE, mlock, O_DIRECT, process_vm_writev, ptrace), "
        "userfaultfd, and pinned pages in a fork. Pages of shared memory that a system call writes are included. n/a "
        "without tracepoints, and if not every fault was recorded. Absent from earlier files.",
        kLater);
  FIELD(Measured<std::vector<Forks>>, forks,
        "The processes that the watched processes started, by way. n/a without tracepoints. Absent from earlier files.",
        kLater);
  FIELD(std::optional<std::vector<Unwatched>>, unwatched,
        "Processes that the kernel stopped watching at an exec, because their credentials changed or their user may "
        "not read the program. Absent if there are no such processes, and from earlier files.");
  FIELD(std::optional<std::vector<pid_t>>, running,
        "PIDs of counted processes that the program started and that outlived the program (daemons). Later faults of "
        "these processes are not counted. Absent if there are no such processes, and from earlier files.",
        least(1));
  FIELD(std::vector<Process>, processes, "The processes, in the order in which they started.");
  FIELD(std::vector<Interval>, intervals, "The intervals, in time order.");
  FIELD(std::optional<std::vector<InterpreterNames>>, script_names,
        "Interpreters that ran, and the origin of the names of their scripts' functions. Absent from earlier files.");
  FIELD(Measured<Stacks>, stacks,
        "With --stacks, the number of faults in user mode with and without a known stack. Absent from earlier files.",
        kLater);
  FIELD(std::vector<Code>, code, "Functions, in descending order of copies.");
  FIELD(std::optional<std::vector<Writing>>, writers,
        "Kinds of code that wrote to the copied pages, in descending order of copies. Absent from earlier files.");
  BASE_FIELDS(Verdict);
};

/// Returns the whole result except the verdict.
Cow cow_result(const CowSubject& subject, const FaultData& data, Json environment);

Verdict cow_verdict(const Cow& cow);

/// The summary for the terminal: totals, processes, and the mappings and functions that copied most.
std::string cow_text(const Cow& cow);

/// The default output, which fits one screen.
Answer cow_answer(const Cow& cow);

/// Returns the next steps: a search for a remedy if a runtime made the copies, advice, and a comparison of snapshots.
std::vector<Answer::Step> cow_steps(const Cow& cow);

/// Sentences that affect how the counts must be read, the most severe first.
std::vector<std::string> cow_warnings(const Cow& cow);

std::string mapping_label(const Mapping& mapping);
std::string code_label(const Code& code);

/// The number of copied pages, such as "5 pages copied (20 KiB)", "about 5 pages copied (20 KiB)" or "between 5 and 9
/// pages copied".
std::string copied_text(const Cow& cow);

/// Whether forks may have copied pages that are missing from all counts.
bool misses_copies_in_fork(const Cow& cow);

/// Returns the number of forks, their time in the kernel, and the pages that they copied without a fault, in whole
/// sentences. Empty if there were no forks, or if they are unknown.
std::string forks_text(const Cow& cow);

/// The count as text, or "n/a".
std::string known_text(const Measured<std::uint64_t>& count);

/// Says why the kernel stopped reporting the faults of a process, and how many faults are missing. The text ends
/// without a period.
std::string unwatched_text(const Unwatched& unwatched);

/// Whether totals, and numbers by process, mapping and function, are counts, or estimates with an interval. If not,
/// only a range or a lower bound is known.
bool are_told_apart(const Cow& cow);

/// Advice for the process that should copy less; empty if the counts do not show it.
std::string copies_advice(const Cow& cow);

/// A command that compares alternatives for a snapshot of the same size. Empty if few pages were copied.
std::string next_step(const Cow& cow);

/// Returns the object of "zerotax.cow/1".
Json cow_json(const Cow& cow);

/// Reads an object of "zerotax.cow/1", which this version or an earlier one wrote. The object must already be checked
/// against its schema.
Cow read_cow(const Json& json);

/// Returns the heading of the live lines: two lines that explain the bar and -, and the names of the columns. Lines are
/// cut at `columns`, unless `columns` is 0.
std::string cow_heading(std::size_t columns = 0);

/// Returns one interval as live lines, each with its line break. First comes a line for each child that started or
/// ended, with the time of day, then a line for all processes. If there are children, more lines follow: the parent,
/// each of the 8 children that copied most, and all other children together. A bar has a "@" for each factor of 4 of
/// the copies. With `tenths`, times of day have tenths of a second.
std::string cow_lines(const FaultInterval& interval, bool tenths, std::size_t columns = 0);

}  // namespace zerotax::cow
