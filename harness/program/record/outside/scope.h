#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "os/perf_event.h"
#include "os/unique_fd.h"
#include "record/result.h"

namespace zerotax::record {

/// Running processes to watch, together with their descendants. With the right to watch CPUs, processes that join the
/// scope are watched, too.
class WatchScope {
 public:
  /// Returns the scope of a process and its descendants. Throws as check_process() does.
  static WatchScope of_process(pid_t pid);
  /// Returns the scope of the processes in a control group, found by find_cgroup(). Throws UsageError if the group does
  /// not exist, or none of its processes runs. Throws MachineError if all of its processes belong to other users.
  static WatchScope of_cgroup(const std::string& name);
  /// Returns the scope of all processes; without root, of all processes of this user.
  static WatchScope of_all();

  /// Returns the processes that are new since the last call. Kernel threads and zerotax itself are excluded.
  std::vector<pid_t> joined();

  [[nodiscard]] Watched watched() const { return watched_; }
  [[nodiscard]] pid_t pid() const { return pid_; }                     ///< the watched PID, if watched() is kProcess
  [[nodiscard]] const std::string& path() const { return path_; }      ///< path of the cgroup
  [[nodiscard]] const std::string& folder() const { return folder_; }  ///< folder of the cgroup
  /// Number of processes that are excluded because they belong to other users.
  [[nodiscard]] std::size_t others() const { return others_; }
  /// Makes perf() return a scope without tracepoints.
  void make_light() { light_ = true; }
  /// Returns the scope of perf events: the given processes, and the whole scope if CPUs may be watched.
  [[nodiscard]] PerfScope perf(const std::vector<pid_t>& processes) const;

 private:
  explicit WatchScope(Watched watched) : watched_(watched) {}
  [[nodiscard]] std::vector<pid_t> listed() const;
  [[nodiscard]] bool takes(pid_t pid);
  void open(int cgroup);

  Watched watched_;
  pid_t pid_ = 0;
  std::string path_;
  std::string folder_;
  UniqueFd cgroup_;
  bool is_open_ = false;
  bool has_us_ = false;
  bool light_ = false;
  std::size_t others_ = 0;
  std::set<pid_t> listed_;
};

}  // namespace zerotax::record
