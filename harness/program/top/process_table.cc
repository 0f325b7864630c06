#include "top/process_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "os/cgroup.h"
#include "os/clock.h"
#include "os/huge_pages.h"
#include "os/input_file.h"
#include "os/limits.h"
#include "os/load.h"
#include "os/page.h"
#include "os/pid_namespace.h"
#include "os/process_stat.h"

namespace zerotax::top {
namespace {

/// File descriptors reserved for the rest of the command.
constexpr std::size_t kReserve = 64;
/// Number of scans after which a process's owner and cgroup, which may change, are read again.
constexpr unsigned kRefresh = 10;

/// Raises the limit of open files to its maximum, and returns how many descriptors may be used for the files of
/// processes. Each process needs two descriptors.
std::size_t raise_open_files() {
  const std::uint64_t limit = allow_many_files();
  return limit > kReserve ? limit - kReserve : 0;
}

std::string link_of(const std::string& path) {
  std::array<char, 64> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "";
}

std::size_t read_at_once(int fd, char* text, std::size_t most) {
  const ssize_t taken = ::pread(fd, text, most, 0);
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

}  // namespace

ProcessTable::ProcessTable(bool cgroups, std::string root)
    : root_(std::move(root)), cgroups_(cgroups), folder_(::opendir(root_.c_str())), most_open_(raise_open_files()) {
  const std::string self = link_of(root_ + "/self");
  if (folder_ == nullptr || self.empty()) {
    throw MachineError(fmt::format("{} is not a mounted proc file system", root_), "mount -t proc proc /proc");
  }
  limits_ = lasting_limits();
  clocks_ = self == std::to_string(::getpid());
}

std::string ProcessTable::path(pid_t pid, const char* file) const { return fmt::format("{}/{}/{}", root_, pid, file); }

std::vector<pid_t> ProcessTable::list() {
  std::vector<pid_t> pids;
  pids.reserve(entries_.size() + 64);
  ::rewinddir(folder_.get());
  while (const dirent* entry = ::readdir(folder_.get())) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') pids.push_back(std::atoi(entry->d_name));
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

void ProcessTable::read_cgroups(bool cgroups) {
  if (cgroups == cgroups_) return;
  cgroups_ = cgroups;
  for (const auto& entry : entries_) entry->has_owner = false;
}

/// Returns false if the process has ended, or if this user cannot read its files.
bool ProcessTable::open(Entry& entry) {
  const pid_t pid = entry.process.pid;
  entry.stat = UniqueFd(::open(path(pid, "stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!entry.stat && (errno == EACCES || errno == EPERM)) ++hidden_;
  entry.has_clock = entry.stat && clocks_ && ::clock_getcpuclockid(pid, &entry.clock) == 0;
  return static_cast<bool>(entry.stat);
}

void ProcessTable::read_memory(Entry& entry, std::uint64_t resident_pages) {
  Process& process = entry.process;
  process.resident_bytes = resident_pages * page_bytes();
  if (!entry.statm) entry.statm = UniqueFd(::open(path(process.pid, "statm").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text;
  const std::size_t length = entry.statm ? read_at_once(entry.statm.get(), text.data(), text.size()) : 0;
  if (const auto pages = parse_process_pages({text.data(), length})) {
    process.anonymous_bytes = pages->anonymous() * page_bytes();
  }
}

/// Reads the process's cgroup, and its effective user, who owns the process's folder in /proc.
void ProcessTable::read_owner(Entry& entry) {
  entry.has_owner = true;
  struct stat status {};
  if (::stat(fmt::format("{}/{}", root_, entry.process.pid).c_str(), &status) == 0) entry.process.user = status.st_uid;
  entry.process.cgroup = cgroups_ ? memory_cgroup(text_of(path(entry.process.pid, "cgroup"))) : "";
}

/// Whether the process has not run since the last scan: its CPU time is unchanged. A process that has not run has
/// unchanged counts.
bool ProcessTable::has_rested(Entry& entry) {
  timespec time{};
  if (!entry.has_clock || ::clock_gettime(entry.clock, &time) != 0) return false;
  const std::int64_t ns = in_ns(time);
  return std::exchange(entry.process.cpu_ns, ns) == ns;
}

/// Returns false if the process has ended. With `always`, reads the process even if it has not run.
bool ProcessTable::read(Entry& entry, bool always) {
  if (!entry.stat && !open(entry)) return false;
  // The clock is read first. If the process runs between the two reads, its CPU time has changed at the next scan,
  // which then reads the process again.
  const bool rested = has_rested(entry);
  // While a process does not run, only its resident memory, owner and name can change.
  const bool is_known = rested && !always && entry.process.start_ticks != 0 && entry.looks % kRefresh != 0;
  const bool is_there = is_known || parse(entry);
  if (!entry.keeps_open) {
    entry.stat.reset();
    entry.statm.reset();
  }
  return is_there;
}

bool ProcessTable::parse(Entry& entry) {
  std::array<char, 1024> text;
  const std::size_t length = read_at_once(entry.stat.get(), text.data(), text.size());
  const auto stat = parse_process_stat({text.data(), length});
  Process& process = entry.process;
  const bool is_new = process.start_ticks == 0;
  if (!stat || (!is_new && stat->start_ticks != process.start_ticks)) return false;
  process.start_ticks = stat->start_ticks;
  process.parent = stat->parent;
  process.kernel_thread = stat->kernel_thread;
  if (process.name != stat->name) process.name = stat->name;
  if (!entry.has_clock) process.cpu_ns = static_cast<std::int64_t>(stat->user_ticks + stat->system_ticks) * tick_ns();
  process.children_minor_faults = stat->children_minor_faults;
  process.children_major_faults = stat->children_major_faults;
  process.children_cpu_ns =
      static_cast<std::int64_t>(stat->children_user_ticks + stat->children_system_ticks) * tick_ns();
  // Anonymous memory is read again only after new faults or a change of resident memory.
  if (is_new || process.minor_faults != stat->minor_faults ||
      process.resident_bytes != stat->resident_pages * page_bytes()) {
    read_memory(entry, stat->resident_pages);
  }
  process.minor_faults = stat->minor_faults;
  process.major_faults = stat->major_faults;
  return true;
}

/// Reads some processes again, because a parent may have waited for a child after the parent was read and before the
/// child was.
///
/// Reads first the parents whose counts of children rose, then their children. If a child has ended by now, its counts
/// have moved to its parent, which shows them now or in the next scan. Children of processes that have `gone` have a
/// new parent.
void ProcessTable::confirm(const std::unordered_set<pid_t>& parents, std::unordered_set<pid_t> gone) {
  const auto again = [&](const std::unordered_set<pid_t>& pids, bool children, bool always) {
    if (pids.empty()) return;
    for (const auto& entry : entries_) {
      const pid_t pid = entry->process.pid;
      if (!entry->listed || !pids.contains(children ? entry->process.parent : pid)) continue;
      entry->listed = read(*entry, always);
      if (!entry->listed) gone.insert(pid);
    }
  };
  again(parents, false, false);
  again(parents, true, false);
  again(std::unordered_set<pid_t>(gone), true, true);
}

/// Returns the entry of a listed PID, or nullptr if the process has ended or this user cannot read its files.
std::unique_ptr<ProcessTable::Entry> ProcessTable::found(pid_t pid, bool keeps_open) {
  auto entry = std::make_unique<Entry>();
  entry->process.pid = pid;
  entry->looks = static_cast<unsigned>(pid) % kRefresh;  // spreads the refreshes over the scans
  entry->keeps_open = keeps_open;
  if (!read(*entry)) return nullptr;
  return entry;
}

Look ProcessTable::look() {
  Look look;
  look.time_ns = monotonic_ns();
  look.boot_ticks = static_cast<std::uint64_t>(clock_ns(CLOCK_BOOTTIME) / tick_ns());
  hidden_ = 0;
  Entries entries;
  std::unordered_set<pid_t> parents;  // parents of ended processes, and parents that waited for a child
  std::unordered_set<pid_t> gone;
  auto old = entries_.begin();
  const auto has_gone = [&](const Entry& entry) {
    parents.insert(entry.process.parent);
    gone.insert(entry.process.pid);
  };
  for (const pid_t pid : list()) {
    for (; old != entries_.end() && (*old)->process.pid < pid; ++old) has_gone(**old);
    std::unique_ptr<Entry> entry;
    const bool keeps_open = 2 * entries.size() + 1 < most_open_;
    if (old != entries_.end() && (*old)->process.pid == pid) {
      entry = std::move(*old++);
      const std::uint64_t children = entry->process.children_minor_faults;
      if (!read(*entry)) {
        has_gone(*entry);
        entry = found(pid, keeps_open);  // another process may have the PID
      } else if (entry->process.children_minor_faults != children) {
        parents.insert(pid);
      }
    } else {
      entry = found(pid, keeps_open);
    }
    if (!entry) continue;
    if (!entry->has_owner || entry->looks % kRefresh == 0) read_owner(*entry);
    ++entry->looks;
    entry->listed = true;
    entries.push_back(std::move(entry));
  }
  for (; old != entries_.end(); ++old) has_gone(**old);
  entries_ = std::move(entries);
  confirm(parents, std::move(gone));
  std::erase_if(entries_, [](const auto& entry) { return !entry->listed; });
  // The machine's counts are read last, so that they include the faults of the scan itself.
  look.machine = read_vm_events();
  look.started = started_tasks();
  look.huge = huge_fault_bytes();
  look.hidden = hidden_;
  look.processes.reserve(entries_.size());
  for (const auto& entry : entries_) {
    if (!entry->process.kernel_thread) look.processes.push_back(entry->process);
  }
  return look;
}

/// Returns the limits that stay the same while this process runs.
std::vector<std::string> ProcessTable::lasting_limits() const {
  std::vector<std::string> limits;
  const std::string mounts = text_of(root_ + "/self/mounts");
  for (std::size_t at = 0; at < mounts.size(); at = mounts.find('\n', at), at += at < mounts.size() ? 1 : 0) {
    const std::string line = mounts.substr(at, mounts.find('\n', at) - at);
    if (line.find(' ' + root_ + " proc ") == std::string::npos) continue;
    const std::size_t option = line.find("hidepid=");
    if (option != std::string::npos && line.compare(option, 9, "hidepid=0") != 0 &&
        line.compare(option, 11, "hidepid=off") != 0 && ::geteuid() != 0) {
      limits.emplace_back("processes of other users are hidden (hidepid): root sees them");
    }
  }
  if (!in_first_pid_namespace(root_).value_or(true)) {
    limits.emplace_back("only processes of this container are seen; the totals are those of the whole machine");
  }
  return limits;
}

std::vector<std::string> ProcessTable::limits() const {
  std::vector<std::string> limits = limits_;
  if (hidden_ > 0) limits.push_back(fmt::format("{} may not be read", format_counted(hidden_, "process", "processes")));
  return limits;
}

}  // namespace zerotax::top
