#include "os/process_info.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "base/printable.h"
#include "os/clock.h"
#include "os/input_file.h"
#include "os/page.h"
#include "os/process_stat.h"
#include "os/stop.h"

namespace zerotax {
namespace {

std::string path_of(pid_t pid, const char* file) { return fmt::format("/proc/{}/{}", pid, file); }

/// Returns the name from the contents of /proc/PID/comm. A name may contain line breaks, and the kernel appends one.
std::string shown_name(std::string name) {
  if (name.ends_with('\n')) name.pop_back();
  return printable(name);
}

std::string task_path(pid_t pid, pid_t tid, const char* file) {
  return fmt::format("/proc/{}/task/{}/{}", pid, tid, file);
}

/// Returns the path of a file in /proc that describes a process's memory.
std::string memory_path(pid_t pid, const char* file) { return path_of(living_thread(pid), file); }

bool is_state_of_end(char state) { return state == 'Z' || state == 'X'; }

char thread_state(pid_t pid, pid_t tid) {
  const std::string line = text_of(task_path(pid, tid, "stat"));
  const auto stat = parse_process_stat(line);
  return stat ? stat->state : 'X';
}

std::int64_t ns_of(std::uint64_t ticks) { return static_cast<std::int64_t>(ticks) * tick_ns(); }

}  // namespace

ProcessMemory process_memory(pid_t pid, bool pss) {
  ProcessMemory memory;
  // All values of a zombie are 0, because it has no memory to measure.
  if (const auto pages = parse_process_pages(text_of(memory_path(pid, "statm"))); pages && pages->mapped > 0) {
    memory.vsz = pages->mapped * page_bytes();
    memory.rss = pages->resident * page_bytes();
  }
  if (pss) memory.pss = rollup_bytes(pid, "Pss");
  return memory;
}

std::optional<std::uint64_t> rollup_bytes(pid_t pid, const std::string& name) {
  std::ifstream rollup(memory_path(pid, "smaps_rollup"));
  for (std::string line; std::getline(rollup, line);) {
    std::istringstream words(line);
    std::string found;
    std::uint64_t kib = 0;
    if (words >> found >> kib && found == name + ":") return kib * 1024;
  }
  return std::nullopt;
}

std::optional<ResidentParts> resident_parts(pid_t pid) {
  ResidentParts parts;
  bool any = false;
  std::ifstream status(path_of(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    const auto bytes = [&](const char* name) -> std::uint64_t {
      const std::size_t length = std::strlen(name);
      if (line.compare(0, length, name) != 0) return 0;
      any = true;
      return std::strtoull(line.c_str() + length, nullptr, 10) * 1024;
    };
    parts.peak += bytes("VmHWM:");
    parts.swapped += bytes("VmSwap:");
    parts.shared += bytes("RssShmem:");
    parts.anonymous += bytes("RssAnon:");
    parts.others += bytes("RssFile:");
    parts.hugetlb += bytes("HugetlbPages:");
  }
  parts.anonymous += parts.swapped;
  parts.others += parts.shared;
  if (any) return parts;
  const pid_t living = living_thread(pid);
  return living != pid ? resident_parts(living) : std::nullopt;
}

std::optional<ProcessMapping> parse_mapping(const std::string& line) {
  unsigned long long begin = 0;
  unsigned long long end = 0;
  unsigned long long offset = 0;
  unsigned long long inode = 0;
  unsigned major = 0;
  unsigned minor = 0;
  char flags[5]{};
  int name = 0;
  if (std::sscanf(line.c_str(), "%llx-%llx %4s %llx %x:%x %llu %n", &begin, &end, &flags[0], &offset, &major, &minor,
                  &inode, &name) != 7)
    return std::nullopt;
  return ProcessMapping{begin,
                        end,
                        offset,
                        flags[1] == 'w',
                        flags[3] == 's',
                        line.substr(static_cast<std::size_t>(name)),
                        flags[2] == 'x',
                        inode,
                        makedev(major, minor)};
}

std::vector<ProcessMapping> process_mappings(pid_t pid) {
  std::vector<ProcessMapping> mappings;
  std::ifstream maps(memory_path(pid, "maps"));
  for (std::string line; std::getline(maps, line);) {
    if (auto mapping = parse_mapping(line)) mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

std::vector<pid_t> process_threads(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code failure;
  std::filesystem::directory_iterator entry(path_of(pid, "task"), failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    threads.push_back(static_cast<pid_t>(std::atoi(entry->path().filename().c_str())));
  }
  return threads;
}

pid_t living_thread(pid_t pid) {
  if (!is_state_of_end(thread_state(pid, pid))) return pid;
  for (const pid_t thread : process_threads(pid)) {
    if (!is_state_of_end(thread_state(pid, thread))) return thread;
  }
  return pid;
}

bool for_each_thread(const std::vector<pid_t>& processes, const std::function<bool(pid_t)>& visit) {
  std::set<pid_t> known;
  for (bool again = true; again;) {
    again = false;
    for (const pid_t process : processes) {
      for (const pid_t thread : process_threads(process)) {
        if (!known.insert(thread).second) continue;
        again = true;
        end_if_stopped();
        if (!visit(thread)) return false;
      }
    }
  }
  return true;
}

std::vector<pid_t> process_children(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : process_threads(pid)) {
    std::ifstream file(task_path(pid, thread, "children"));
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> process_tree(pid_t pid) {
  std::vector<pid_t> all{pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : process_children(all[i])) {
      if (child != ::getpid()) all.push_back(child);
    }
  }
  return all;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> processes;
  std::error_code failure;
  std::filesystem::directory_iterator entry("/proc", failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    const pid_t pid = std::atoi(entry->path().filename().c_str());
    if (pid > 0) processes.push_back(pid);
  }
  return processes;
}

std::string process_name(pid_t pid) {
  std::string name;
  std::ifstream file(path_of(pid, "comm"));
  std::getline(file, name, '\0');
  return shown_name(std::move(name));
}

std::string thread_name(pid_t pid, pid_t tid) {
  std::string name;
  std::ifstream file(task_path(pid, tid, "comm"));
  std::getline(file, name, '\0');
  return shown_name(std::move(name));
}

std::vector<std::string> process_command(pid_t pid) {
  std::vector<std::string> words;
  std::ifstream file(memory_path(pid, "cmdline"), std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string process_program(pid_t pid) {
  std::error_code failure;
  auto path = std::filesystem::read_symlink(path_of(pid, "exe"), failure);
  if (failure) path = std::filesystem::read_symlink(memory_path(pid, "exe"), failure);
  return failure ? "" : path.string();
}

std::optional<ThreadTimes> thread_times(pid_t pid, pid_t tid) {
  const std::string line = text_of(task_path(pid, tid, "stat"));
  const auto stat = parse_process_stat(line);
  if (!stat) return std::nullopt;
  return ThreadTimes{ns_of(stat->user_ticks), ns_of(stat->system_ticks), stat->minor_faults + stat->major_faults};
}

std::optional<ProcessFacts> process_facts(pid_t pid) {
  const std::string line = text_of(path_of(pid, "stat"));
  const auto stat = parse_process_stat(line);
  if (!stat) return std::nullopt;
  ProcessFacts facts;
  const bool first_ended = is_state_of_end(stat->state) && stat->threads > 1;
  facts.state = first_ended ? thread_state(pid, living_thread(pid)) : stat->state;
  facts.parent = stat->parent;
  facts.kernel_thread = stat->kernel_thread;
  facts.user_ns = ns_of(stat->user_ticks);
  facts.system_ns = ns_of(stat->system_ticks);
  facts.children_user_ns = ns_of(stat->children_user_ticks);
  facts.children_system_ns = ns_of(stat->children_system_ticks);
  facts.minor_faults = stat->minor_faults;
  facts.faults = stat->minor_faults + stat->major_faults;
  facts.children_minor_faults = stat->children_minor_faults;
  facts.children_faults = stat->children_minor_faults + stat->children_major_faults;
  timespec boot{};
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &boot);
  ::clock_gettime(CLOCK_REALTIME, &now);
  facts.start_ticks = stat->start_ticks;
  facts.start_stack = stat->start_stack;
  facts.started_s = now.tv_sec - boot.tv_sec + ns_of(stat->start_ticks) / 1'000'000'000;
  std::ifstream status_file(path_of(pid, "status"));
  for (std::string row; std::getline(status_file, row);) {
    if (row.starts_with("Tgid:")) facts.process = static_cast<pid_t>(std::atoi(row.c_str() + 5));
  }
  struct stat status {};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0) facts.user = status.st_uid;
  return facts;
}

bool is_running(pid_t pid) {
  const auto facts = process_facts(pid);
  return facts && !is_state_of_end(facts->state);
}

std::optional<std::uint64_t> process_minor_faults(pid_t pid) {
  const std::string line = text_of(path_of(pid, "stat"));
  const auto stat = parse_process_stat(line);
  return stat ? std::optional(stat->minor_faults) : std::nullopt;
}

std::optional<std::int64_t> process_cpu_ns(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return std::nullopt;
  return in_ns(time);
}

std::vector<MappingMemory> parse_smaps(std::istream& text) {
  std::vector<MappingMemory> mappings;
  for (std::string line; std::getline(text, line);) {
    if (auto found = parse_mapping(line)) {
      MappingMemory& mapping = mappings.emplace_back();
      mapping.begin = found->begin;
      mapping.mapped = found->end - found->begin;
      mapping.name = std::move(found->name);
      continue;
    }
    char field[32]{};
    unsigned long long kib = 0;
    if (mappings.empty() || std::sscanf(line.c_str(), "%31[A-Za-z_]: %llu kB", &field[0], &kib) != 2) continue;
    const std::string word = &field[0];
    if (word == "Rss") mappings.back().resident = kib * 1024;
    if (word == "Anonymous") mappings.back().anonymous = kib * 1024;
    if (word == "AnonHugePages") mappings.back().huge = kib * 1024;
    if (word == "LazyFree") mappings.back().lazy = kib * 1024;
  }
  return mappings;
}

std::optional<std::vector<MappingMemory>> read_smaps(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps", living_thread(pid)));
  std::vector<MappingMemory> mappings = parse_smaps(file);
  // For a process that may not be inspected, the read fails. For an ended process or a kernel thread, the file is
  // empty.
  if (mappings.empty()) return std::nullopt;
  return mappings;
}

}  // namespace zerotax
