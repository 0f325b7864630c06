#pragma once

#include <sys/types.h>

#include <cstdint>
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

/// One line of /proc/PID/maps.
struct ProcessMapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t file_offset;
  bool writable;
  bool shared;
  std::string name;  ///< path, [heap], [stack]; empty: anonymous
};

/// Empty if the process is gone, or may not be looked at.
std::vector<ProcessMapping> process_mappings(pid_t pid);

/// Its threads; empty if there is no such process.
std::vector<pid_t> process_threads(pid_t pid);
/// Its children, from /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
std::vector<pid_t> process_children(pid_t pid);
/// A process and all its descendants, each behind its parent.
std::vector<pid_t> process_tree(pid_t pid);
/// The short name (comm); empty if there is no such process.
std::string process_name(pid_t pid);

}  // namespace zerotax
