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

/// A process as /proc showed it at one moment; counts since its start.
struct Process {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< with the PID, it names one process
  pid_t parent = 0;
  std::string name;
  uid_t user = 0;
  std::string cgroup;  ///< filled in only if it was asked for
  bool kernel_thread = false;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::int64_t cpu_ns = 0;
  std::uint64_t children_minor_faults = 0;  ///< of children that were waited for
  std::uint64_t children_major_faults = 0;
  std::int64_t children_cpu_ns = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t anonymous_bytes = 0;  ///< resident, and not shared
};

/// The machine at one moment.
struct Look {
  std::int64_t time_ns = 0;           ///< CLOCK_MONOTONIC, when the look began
  std::uint64_t boot_ticks = 0;       ///< the same in ticks since boot, as start_ticks count
  std::vector<Process> processes;     ///< by PID
  std::size_t hidden = 0;             ///< processes that are listed, but may not be read
  VmEvents machine;                   ///< since boot
  std::optional<std::uint64_t> huge;  ///< bytes populated in pieces larger than a page, since boot
};

/// The processes of /proc. Their files stay open, as many as the limit of descriptors permits, so that a look costs a
/// read of each; nothing is written, stopped or traced.
class ProcessTable {
 public:
  /// `cgroups`: Process::cgroup is filled in. `root` replaces "/proc" in tests. Throws MachineError if there is no such
  /// folder.
  explicit ProcessTable(bool cgroups, std::string root = "/proc");

  Look look();
  /// From now on.
  void read_cgroups(bool cgroups);

  /// What cannot be seen here, and why: a sentence each, for people.
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
  bool clocks_;  ///< a PID of /proc is one of ours, too
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
