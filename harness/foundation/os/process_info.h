#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// The memory of a process, in bytes. A metric is absent if the process has ended or belongs to another user.
struct ProcessMemory {
  std::optional<std::uint64_t> rss;  ///< resident
  std::optional<std::uint64_t> pss;  ///< resident size, with each page divided by the number of processes that map it
  std::optional<std::uint64_t> vsz;  ///< mapped
};

/// Reads RSS and VSZ from /proc/PID/statm. `pss` adds PSS from /proc/PID/smaps_rollup, which walks the process's page
/// tables (about 10 ms per GiB) and blocks its mmap calls meanwhile.
ProcessMemory process_memory(pid_t pid, bool pss);

/// Returns the bytes of a field of /proc/PID/smaps_rollup, such as "Pss". The kernel walks the process's page tables,
/// about 10 ms per GiB.
std::optional<std::uint64_t> rollup_bytes(pid_t pid, const std::string& name);

/// Parts of a process's memory in bytes, from /proc/PID/status.
struct ResidentParts {
  std::uint64_t anonymous = 0;  ///< RssAnon and VmSwap: the process's own pages
  std::uint64_t swapped = 0;    ///< VmSwap, included in `anonymous`
  std::uint64_t others = 0;     ///< RssFile and RssShmem
  std::uint64_t shared = 0;     ///< RssShmem, included in `others`
  std::uint64_t hugetlb = 0;    ///< HugetlbPages, included in no other field
  std::uint64_t peak = 0;       ///< VmHWM: peak resident size since the last exec
};
/// Returns nothing if the process has ended or has no memory (a zombie).
std::optional<ResidentParts> resident_parts(pid_t pid);

/// A line of /proc/PID/maps.
struct ProcessMapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t file_offset;
  bool writable;
  bool shared;
  std::string name;  ///< path, [heap], [stack]; empty if anonymous
  bool executable = false;
  std::uint64_t inode = 0;   ///< inode of the file; 0 for no file
  std::uint64_t device = 0;  ///< device of the file system that contains the file
};

/// Returns nothing if the line is malformed.
std::optional<ProcessMapping> parse_mapping(const std::string& line);

/// Returns no mappings if the process has ended or may not be inspected.
std::vector<ProcessMapping> process_mappings(pid_t pid);

/// Returns the threads of a process. The list is empty if the process does not exist.
std::vector<pid_t> process_threads(pid_t pid);
/// Returns the process's own ID, or the ID of another of its threads if the first thread has already ended
/// (pthread_exit). Each living thread shows the process's memory, program and root folder in /proc.
pid_t living_thread(pid_t pid);
/// Calls visit(thread) once for each thread of these processes. Repeats the search to find threads that were started
/// meanwhile. Stops and returns false as soon as `visit` returns false. Throws Stop if a signal requests an end,
/// because there may be thousands of threads.
bool for_each_thread(const std::vector<pid_t>& processes, const std::function<bool(pid_t)>& visit);
/// Returns the children of a process, from /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
std::vector<pid_t> process_children(pid_t pid);
/// Returns a process and all its descendants, each after its parent, excluding this process.
std::vector<pid_t> process_tree(pid_t pid);
/// Returns all processes in /proc, including this process and threads of the kernel.
std::vector<pid_t> all_processes();
/// Returns the short name (comm); empty if the process does not exist.
std::string process_name(pid_t pid);
/// Returns the short name of a thread.
std::string thread_name(pid_t pid, pid_t tid);
/// Returns the words of the command line; empty if the process does not exist or has no command line.
std::vector<std::string> process_command(pid_t pid);
/// Returns the path of the program, from /proc/PID/exe; empty if the path is unreadable, or if there is no program (a
/// kernel thread).
std::string process_program(pid_t pid);

/// Facts from /proc/PID/stat and /proc/PID/status.
struct ProcessFacts {
  pid_t process = 0;  ///< the ID of the process; differs from the requested ID if that is the ID of another thread
  pid_t parent = 0;
  char state = '?';  ///< state of living_thread(), as in ps(1): R, S, D, T, Z, …
  bool kernel_thread = false;
  uid_t user = 0;            ///< effective user
  std::int64_t user_ns = 0;  ///< CPU time, counted in ticks
  std::int64_t system_ns = 0;
  std::int64_t children_user_ns = 0;  ///< CPU time of children that were waited for
  std::int64_t children_system_ns = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t faults = 0;           ///< minor and major faults
  std::uint64_t children_faults = 0;  ///< faults of children that were waited for
  std::uint64_t children_minor_faults = 0;
  std::int64_t started_s = 0;     ///< start time, in seconds since 1970
  std::uint64_t start_ticks = 0;  ///< start time since boot, in the kernel's ticks; with the PID, it identifies a
                                  ///< process
  std::uint64_t start_stack = 0;  ///< address of the thread's stack, random for each exec; 0 if hidden from us
};
/// Returns nothing if the process does not exist.
std::optional<ProcessFacts> process_facts(pid_t pid);
/// CPU time (counted in ticks) and page faults of one thread since its start: /proc/PID/task/TID/stat.
struct ThreadTimes {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::uint64_t faults = 0;  ///< minor and major faults
};
/// Returns nothing if the thread does not exist.
std::optional<ThreadTimes> thread_times(pid_t pid, pid_t tid);
/// Whether a process exists and has not ended. A zombie has ended.
bool is_running(pid_t pid);
/// Returns the minor faults of a process, without the faults of its children. An ended process has a count until it is
/// reaped. Returns nothing if the process does not exist.
std::optional<std::uint64_t> process_minor_faults(pid_t pid);
/// Returns the CPU time of all threads of a process, including ended threads, in nanoseconds, without the time of
/// children. Returns nothing if the process has ended. Source: clock_getcpuclockid(3).
std::optional<std::int64_t> process_cpu_ns(pid_t pid);

/// Memory of one mapping in bytes, from /proc/PID/smaps.
struct MappingMemory {
  std::uint64_t begin = 0;
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  std::uint64_t anonymous = 0;
  std::uint64_t huge = 0;  ///< anonymous bytes in transparent huge pages
  std::uint64_t lazy = 0;  ///< anonymous bytes that the kernel may take, because of MADV_FREE
  std::string name;        ///< path, [heap], [anon:…]; empty if anonymous
};

std::vector<MappingMemory> parse_smaps(std::istream& text);

/// Returns nothing if the process has ended or may not be inspected. The kernel walks the page tables, about 10 ms per
/// GiB.
std::optional<std::vector<MappingMemory>> read_smaps(pid_t pid);

}  // namespace zerotax
