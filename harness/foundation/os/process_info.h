#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// The memory that a process holds, in bytes; a metric that the kernel does not give (the process is gone, or another
/// user's) is empty.
struct ProcessMemory {
  std::optional<std::uint64_t> rss;  ///< resident
  std::optional<std::uint64_t> pss;  ///< resident, each page divided by the number of those that map it
  std::optional<std::uint64_t> vsz;  ///< mapped
};

/// RSS and VSZ from /proc/PID/statm, and with `pss` PSS from /proc/PID/smaps_rollup, which walks the process's page
/// tables (about 10 ms per GiB) and holds up its mmap calls meanwhile.
ProcessMemory process_memory(pid_t pid, bool pss);

/// Bytes behind a name of /proc/PID/smaps_rollup, such as "Pss": as above, and as slow.
std::optional<std::uint64_t> rollup_bytes(pid_t pid, const std::string& name);

/// What a process holds, in bytes, of /proc/PID/status.
struct ResidentParts {
  std::uint64_t anonymous = 0;  ///< RssAnon, and VmSwap: its own pages
  std::uint64_t swapped = 0;    ///< of these: VmSwap
  std::uint64_t others = 0;     ///< RssFile and RssShmem
  std::uint64_t shared = 0;     ///< of these: RssShmem
  std::uint64_t hugetlb = 0;    ///< HugetlbPages, which are in none of the others
  std::uint64_t peak = 0;       ///< VmHWM: the most that was ever resident since its last exec
};
/// Nothing if the process is gone, or has no memory (a zombie).
std::optional<ResidentParts> resident_parts(pid_t pid);

/// One line of /proc/PID/maps.
struct ProcessMapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t file_offset;
  bool writable;
  bool shared;
  std::string name;  ///< path, [heap], [stack]; empty: anonymous
  bool executable = false;
  std::uint64_t inode = 0;   ///< of the file; 0: no file
  std::uint64_t device = 0;  ///< of the file system that holds the file
};

/// Nothing if it is not such a line.
std::optional<ProcessMapping> parse_mapping(const std::string& line);

/// Empty if the process is gone, or may not be looked at.
std::vector<ProcessMapping> process_mappings(pid_t pid);

/// Its threads; empty if there is no such process.
std::vector<pid_t> process_threads(pid_t pid);
/// The process, or another of its threads if the first thread has ended earlier (pthread_exit). /proc shows the memory,
/// program and root folder of a process at each thread that has not ended.
pid_t living_thread(pid_t pid);
/// Calls visit(thread) once for each thread of these processes. The search repeats to find threads that a thread
/// started before it was visited. Stops, and returns false, as soon as a call returns false. There may be thousands of
/// threads: throws Stop once a signal interrupts us.
bool for_each_thread(const std::vector<pid_t>& processes, const std::function<bool(pid_t)>& visit);
/// Its children, from /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
std::vector<pid_t> process_children(pid_t pid);
/// A process and all its descendants, each behind its parent; but not us, if we are one of them.
std::vector<pid_t> process_tree(pid_t pid);
/// All that /proc lists, ourselves and threads of the kernel among them.
std::vector<pid_t> all_processes();
/// The short name (comm); empty if there is no such process.
std::string process_name(pid_t pid);
/// That of a thread.
std::string thread_name(pid_t pid, pid_t tid);
/// The words of its command line; empty if there is no such process, or it has none.
std::vector<std::string> process_command(pid_t pid);
/// The path of its program, as /proc/PID/exe says; empty if that may not be read, or there is none (a kernel thread).
std::string process_program(pid_t pid);

/// Of /proc/PID/stat and /proc/PID/status.
struct ProcessFacts {
  pid_t process = 0;  ///< another than was asked for, if that is one of its threads
  pid_t parent = 0;
  char state = '?';  ///< as ps(1) shows it: R, S, D, T, Z, …; of living_thread()
  bool kernel_thread = false;
  uid_t user = 0;            ///< effective
  std::int64_t user_ns = 0;  ///< CPU time, by ticks
  std::int64_t system_ns = 0;
  std::int64_t children_user_ns = 0;  ///< of its children that were waited for
  std::int64_t children_system_ns = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t faults = 0;           ///< minor and major
  std::uint64_t children_faults = 0;  ///< as the time of those
  std::uint64_t children_minor_faults = 0;
  std::int64_t started_s = 0;     ///< seconds since 1970
  std::uint64_t start_ticks = 0;  ///< the same since boot, as the kernel counts it: with the PID, it names one process
  std::uint64_t start_stack = 0;  ///< address of its stack, random for each exec; 0: not shown to us
};
/// Nothing if there is no such process.
std::optional<ProcessFacts> process_facts(pid_t pid);
/// CPU time by ticks, and page faults, of one thread since its start: /proc/PID/task/TID/stat.
struct ThreadTimes {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::uint64_t faults = 0;  ///< minor and major
};
/// Nothing if there is no such thread.
std::optional<ThreadTimes> thread_times(pid_t pid, pid_t tid);
/// Whether a process exists and has not ended (a zombie has).
bool is_running(pid_t pid);
/// Its minor faults, those of its children left out; of a process that has ended too, until it is waited for. Nothing
/// if there is no such process.
std::optional<std::uint64_t> process_minor_faults(pid_t pid);
/// The CPU time of all its threads, those that have ended too, in nanoseconds; without its children. Nothing if it has
/// ended. clock_getcpuclockid(3).
std::optional<std::int64_t> process_cpu_ns(pid_t pid);

/// What /proc/PID/smaps says of one mapping, in bytes.
struct MappingMemory {
  std::uint64_t begin = 0;
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t anonymous = 0;
  std::uint64_t huge = 0;  ///< of anonymous: in transparent huge pages
  std::string name;        ///< path, [heap], [anon:…]; empty: anonymous
};

std::vector<MappingMemory> parse_smaps(std::istream& text);

/// Nothing if the process is gone, or may not be looked at. The kernel walks the page tables for it, about 10 ms per
/// GiB.
std::optional<std::vector<MappingMemory>> read_smaps(pid_t pid);

}  // namespace zerotax
