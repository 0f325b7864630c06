#include "record/outside/scope.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "observe/file_reader.h"
#include "observe/running_process.h"
#include "os/cgroup.h"
#include "os/process_info.h"

namespace zerotax::record {
namespace {

constexpr const char* kGiveCgroup = "give a cgroup's path as /proc/PID/cgroup shows it, or its folder";

/// Whether this user may open perf events for whole CPUs.
bool is_permitted(const PerfScope& scope) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
  const auto cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (open_perf_event(attributes, -1, cpu, scope)) return true;
  }
  return false;
}

}  // namespace

WatchScope WatchScope::of_process(pid_t pid) {
  check_process(pid);
  WatchScope scope(Watched::kProcess);
  scope.pid_ = pid;
  return scope;
}

WatchScope WatchScope::of_cgroup(const std::string& name) {
  const auto found = find_cgroup(name);
  if (!found) throw UsageError(fmt::format("there is no cgroup '{}'", name), kGiveCgroup);
  WatchScope scope(Watched::kCgroup);
  scope.path_ = found->path;
  scope.folder_ = found->folder;
  if (found->has_perf_events) {
    scope.cgroup_ = UniqueFd(::open(found->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  const std::vector<pid_t> all = scope.listed();
  scope.has_us_ = std::find(all.begin(), all.end(), ::getpid()) != all.end();
  const bool any = std::any_of(all.begin(), all.end(), [&](pid_t pid) { return scope.takes(pid); });
  if (!any && scope.others_ != 0) {
    throw MachineError(fmt::format("all processes in the cgroup {} belong to other users", found->path),
                       "run zerotax as root");
  }
  if (!any) {
    throw UsageError(fmt::format("no process runs in the cgroup {}", found->path),
                     "start its processes, or give another cgroup");
  }
  scope.is_open_ = scope.cgroup_ && is_permitted({{}, scope.cgroup_.get()});
  scope.others_ = 0;
  return scope;
}

WatchScope WatchScope::of_all() {
  WatchScope scope(::geteuid() == 0 ? Watched::kMachine : Watched::kUser);
  scope.has_us_ = true;
  scope.is_open_ = scope.watched_ == Watched::kMachine && is_permitted({{}, -1, true});
  return scope;
}

std::vector<pid_t> WatchScope::listed() const {
  if (watched_ == Watched::kProcess) return process_tree(pid_);
  return watched_ == Watched::kCgroup ? cgroup_processes(folder_) : all_processes();
}

bool WatchScope::takes(pid_t pid) {
  if (is_own_process(pid)) return false;
  const auto facts = process_facts(pid);
  if (!facts || facts->kernel_thread || facts->state == 'Z') return false;
  if (may_watch(pid, facts->user)) return true;
  ++others_;
  return false;
}

std::vector<pid_t> WatchScope::joined() {
  const std::vector<pid_t> now = listed();
  std::vector<pid_t> found;
  for (const pid_t pid : now) {
    if (!listed_.contains(pid) && takes(pid)) found.push_back(pid);
  }
  listed_ = {now.begin(), now.end()};
  return found;
}

PerfScope WatchScope::perf(const std::vector<pid_t>& processes) const {
  if (!is_open_) return {processes, -1, false, false, light_};
  return {processes, cgroup_ ? cgroup_.get() : -1, watched_ == Watched::kMachine, has_us_, light_};
}

}  // namespace zerotax::record
