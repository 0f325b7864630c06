#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "os/memory.h"
#include "os/unique_fd.h"

namespace zerotax::top {

/// A process as /proc showed it in one scan. Counts are sums since the process began.
struct Process {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< identifies the process together with the PID
  pid_t parent = 0;
  std::string name;
  uid_t user = 0;
  std::string cgroup;  ///< empty unless cgroups are read
  bool kernel_thread = false;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t children_minor_faults = 0;  ///< faults of waited-for children
  std::uint64_t children_major_faults = 0;
  std::int64_t children_cpu_ns = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t anonymous_bytes = 0;  ///< resident private memory
};

/// One scan of /proc: the processes and the machine.
struct Look {
  std::int64_t time_ns = 0;              ///< CLOCK_MONOTONIC at the start of the scan
  std::uint64_t boot_ticks = 0;          ///< start of the scan in ticks since boot, comparable with start_ticks
  std::vector<Process> processes;        ///< by PID
  std::size_t hidden = 0;                ///< number of listed processes whose files this user cannot read
  VmEvents machine;                      ///< counts since boot
  std::optional<std::uint64_t> started;  ///< processes and threads started since boot
  std::optional<std::uint64_t> huge;     ///< bytes populated in pieces larger than a page, since boot
};

/// The processes of /proc. Files of processes stay open as far as the limit of open files allows, so that a scan costs
/// one read per file. No process is stopped, traced or changed.
class ProcessTable {
 public:
  /// With `cgroups`, fills in Process::cgroup. `root` replaces "/proc" in tests. Throws MachineError if `root` is not a
  /// mounted proc file system.
  explicit ProcessTable(bool cgroups, std::string root = "/proc");

  Look look();
  /// Sets whether later scans fill in Process::cgroup.
  void read_cgroups(bool cgroups);

  /// Returns one sentence per limit: the processes or counts that this user cannot read, and the reason.
  [[nodiscard]] std::vector<std::string> limits() const;

 private:
  struct Entry {
    Process process;
    UniqueFd stat;
    UniqueFd statm;
    clockid_t clock = 0;
    bool has_clock = false;
    bool has_owner = false;
    unsigned looks = 0;
    bool listed = false;
    bool keeps_open = false;
  };
  using Entries = std::vector<std::unique_ptr<Entry>>;

  std::vector<pid_t> list();
  bool open(Entry& entry);
  bool read(Entry& entry, bool always = false);
  bool has_rested(Entry& entry);
  bool parse(Entry& entry);
  void read_memory(Entry& entry, std::uint64_t resident_pages);
  void read_owner(Entry& entry);
  void confirm(const std::unordered_set<pid_t>& parents, std::unordered_set<pid_t> gone);
  std::unique_ptr<Entry> found(pid_t pid, bool keeps_open);
  [[nodiscard]] std::vector<std::string> lasting_limits() const;
  [[nodiscard]] std::string path(pid_t pid, const char* file) const;

  std::string root_;
  bool cgroups_;
  bool clocks_;  ///< whether /proc belongs to this process's PID namespace, so that the PIDs in /proc identify CPU
                 ///< clocks
  struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
  };
  std::unique_ptr<DIR, CloseFolder> folder_;
  std::size_t most_open_;
  Entries entries_;  ///< by PID
  std::size_t hidden_ = 0;
  std::vector<std::string> limits_;
};

}  // namespace zerotax::top
