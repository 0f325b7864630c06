#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/measured.h"

namespace zerotax::top {

enum class By { kProcess, kUser, kCgroup, kCommand };
ENUM_WORDS(By, "process", "user", "cgroup", "command")
enum class Sort { kFaults, kZeroed, kRefilled, kCpu, kRss, kPid };
ENUM_WORDS(Sort, "faults", "zeroed", "refilled", "cpu", "rss", "pid")

struct Usage {
  RESULT("usage", "Counts of one process, or of one group of processes, during the interval.");
  FIELD(std::optional<pid_t>, pid, "PID of the process; only if the row is one process.", least(1));
  FIELD(std::optional<std::uint64_t>, start_ticks,
        "Start of the process, in clock ticks since boot; only for a process.");
  FIELD(std::optional<pid_t>, parent, "PID of its parent, or 0 if the parent is not visible; only for a process.");
  FIELD(std::string, name, "Short name of the process, or name of the group.", kMayBeEmpty);
  FIELD(std::optional<std::string>, user, "Name of the effective user; only for a process.");
  FIELD(std::optional<std::string>, cgroup,
        "Name of the cgroup; only for a process, and only if rows were grouped by cgroup.");
  MEMBER(processes, "Number of processes in this row.", least(1));
  std::uint64_t processes = 1;
  FIELD(std::uint64_t, minor_faults,
        "Number of minor faults: zero-fill faults, copy faults, and faults that map cached file pages.");
  FIELD(std::uint64_t, major_faults, "Number of major faults, including faults of unseen children.");
  FIELD(std::uint64_t, children_faults,
        "Minor faults of children that the process waited for, if no earlier sample counted these faults.");
  FIELD(std::uint64_t, zeroed_at_most_bytes,
        "Upper bound of kernel-zeroed bytes. Each minor fault of the process and its children counts as a zero-fill "
        "fault, and as many faults as possible count as faults of huge pages. Pages of hugetlbfs are left out.");
  FIELD(Measured<std::uint64_t>, refilled_at_most_bytes,
        "Upper bound of refilled bytes: the bound of bytes zeroed for the process itself, minus the growth of its"
        " anonymous resident memory beyond the peak. n/a in the first interval of a process.");
  FIELD(std::int64_t, cpu_ns, "CPU time in nanoseconds, including that of unseen children.");
  FIELD(Measured<std::int64_t>, fault_cpu_estimated_ns,
        "Estimated CPU time in minor faults: the number of minor faults times fault_cost_ns, at most cpu_ns.");
  FIELD(Measured<double>, fault_cpu_share, "fault_cpu_estimated_ns as a share of cpu_ns.", most(1));
  FIELD(std::uint64_t, resident_bytes, "Resident memory at the end of the interval, in bytes.");
  FIELD(std::uint64_t, anonymous_bytes, "Part of resident_bytes that is neither shared nor mapped from a file.");
  FIELD(Measured<std::uint64_t>, huge_bytes,
        "Part of resident_bytes in transparent huge pages, at the last time that this was read. Only for a "
        "process; not read in each interval, because reading is expensive.");
  uid_t uid = 0;  ///< effective user; only of a process
  [[nodiscard]] std::uint64_t all_faults() const { return minor_faults + children_faults; }
};

struct Machine {
  RESULT("machine",
         "The whole machine during one interval, from /proc/vmstat, and the part of its faults that the processes"
         " account for.");
  FIELD(Measured<std::uint64_t>, faults, "Page faults, minor and major (pgfault).");
  FIELD(Measured<std::uint64_t>, major_faults, "Page faults that read from a disk (pgmajfault).");
  FIELD(Measured<std::uint64_t>, allocated_bytes,
        "Bytes of pages that were allocated for any use (pgalloc of all zones).");
  FIELD(Measured<std::uint64_t>, freed_bytes, "Bytes of pages that were freed (pgfree).");
  FIELD(Measured<std::uint64_t>, huge_zeroed_bytes,
        "Anonymous bytes that the kernel zeroed in pieces larger than a page, with one fault each.");
  FIELD(std::uint64_t, seen_faults, "Faults of the visible processes, and major faults of their unseen children.");
  FIELD(std::uint64_t, children_faults,
        "Minor faults of children that began and ended between samples, if a visible process waited for them.");
  FIELD(Measured<std::uint64_t>, unseen_faults,
        "Faults of the machine that are in neither count above, never negative. These are faults of hidden processes, "
        "of other containers, or of ended processes for which no process waited.");
  FIELD(Measured<double>, unseen_share, "unseen_faults as a share of faults.", most(1));
  FIELD(Measured<std::uint64_t>, started,
        "Number of processes and threads that were started (/proc/stat). Absent from earlier files.", kLater);
};

struct Own {
  RESULT("own", "The cost of zerotax top itself.");
  FIELD(std::int64_t, cpu_ns, "CPU time that zerotax top itself took in the interval, in nanoseconds.");
  FIELD(double, cpu_share, "CPU time that zerotax top itself took, as a share of one CPU.");
};

struct Sample {
  RESULT("a sample of zerotax top",
         "One line of the file of zerotax top --json or --log: all processes, or groups of them, during one "
         "interval. Counts are per interval, not per second. Names with at_most are upper bounds, names with "
         "estimated are estimates, and all other numbers are exact. Only the kernel's counters of resident memory"
         " may be off by some pages per CPU. If the file can no longer be written, its last line may be "
         "incomplete.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.top/1"));
  FIELD(std::string, zerotax_version, "Version of zerotax that wrote the file.");
  FIELD(std::string, time, "End of the interval, in UTC.", kUtc);
  FIELD(double, interval_s, "Length of the interval in seconds.");
  FIELD(By, by, "Unit that each row describes: a process, user, cgroup or command.");
  FIELD(Sort, sort, "The column that sorts the rows, largest first; PIDs are sorted smallest first.");
  FIELD(Measured<double>, fault_cost_ns,
        "CPU time of a zero-fill fault of a small page, in nanoseconds. zerotax top measures it on this machine "
        "when it starts.");
  FIELD(Machine, machine,
        "The whole machine, including all containers, from /proc/vmstat, and the part of its faults that the "
        "processes account for.");
  FIELD(std::uint64_t, processes, "Number of processes at the end of the interval, without kernel threads.");
  FIELD(std::uint64_t, begun, "Number of processes that began in the interval and still run.");
  FIELD(std::uint64_t, ended, "Number of processes that ended in the interval.");
  FIELD(std::uint64_t, hidden, "Number of processes that /proc lists but does not let zerotax read.");
  FIELD(
      std::vector<std::string>, limits,
      "One sentence for each limit: the processes or counts that zerotax cannot read on this machine, and the reason.");
  FIELD(std::uint64_t, rows_left_out, "Number of rows left out because of --rows.");
  FIELD(std::vector<Usage>, rows, "Processes, or groups of processes.");
  FIELD(Own, own, "The cost of zerotax top itself in the interval.");
};

/// Returns lines of text, each at most `columns` characters wide: the machine, the heading, the rows, and notes.
struct Lines {
  std::vector<std::string> head;
  std::string heading;
  std::vector<std::string> rows;
  std::vector<std::string> foot;
};

Lines top_lines(const Sample& sample, std::size_t columns);

/// Returns all lines of the table, each with a line break.
std::string top_text(const Sample& sample, std::size_t columns);

}  // namespace zerotax::top
