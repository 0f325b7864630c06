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

/// Processes that run already, to be watched together with what they start; and where that is permitted, what joins
/// them.
class WatchScope {
 public:
  /// A process and its descendants. Throws as check_process().
  static WatchScope of_process(pid_t pid);
  /// What runs in a control group, by find_cgroup(). Throws UsageError if there is none, or none of ours runs in it.
  static WatchScope of_cgroup(const std::string& name);
  /// All processes, or those of this user if we are not root.
  static WatchScope of_all();

  /// Those that were not there at the last call; threads of the kernel and ourselves are left out.
  std::vector<pid_t> joined();

  [[nodiscard]] Watched watched() const { return watched_; }
  [[nodiscard]] pid_t pid() const { return pid_; }                     ///< kProcess
  [[nodiscard]] const std::string& path() const { return path_; }      ///< of the cgroup
  [[nodiscard]] const std::string& folder() const { return folder_; }  ///< likewise
  /// Processes of other users that are left out.
  [[nodiscard]] std::size_t others() const { return others_; }
  /// From now on perf() is without tracepoints.
  void make_light() { light_ = true; }
  /// Of these processes, and of what else there is, if CPUs may be watched.
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
