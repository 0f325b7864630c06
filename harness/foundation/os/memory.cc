#include "os/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "os/cgroup.h"
#include "os/input_file.h"
#include "os/page.h"
#include "os/process_stat.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // the file is missing, or contains "max"
}

/// Returns the number after `key` in a file of "key value" lines.
std::optional<std::uint64_t> read_field(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return std::nullopt;
}

struct Hierarchy {
  std::string folder;
  const char* limit;
  const char* used;
};

/// Finds the memory cgroup of this process, from "0::/path" (v2) or "4:memory:/path" (v1) of /proc/self/cgroup.
std::optional<std::pair<Hierarchy, std::string>> find_cgroup(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::optional<std::pair<Hierarchy, std::string>> found;
  std::ostringstream text;
  text << file.rdbuf();
  for (const auto& [controllers, path] : parse_cgroup_lines(text.str())) {
    if (controllers.empty() && !found) {
      found = {{root + "/sys/fs/cgroup", "/memory.max", "/memory.current"}, path};
    } else if (controllers == "memory") {
      found = {{root + "/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes"}, path};
    }
  }
  return found;
}

/// Finds the tightest limit of the process's own cgroup and its ancestors, all of which apply.
void read_cgroup(const std::string& root, MemoryState& state) {
  auto found = find_cgroup(root);
  if (!found) return;
  const auto& [hierarchy, own_path] = *found;
  for (std::string path = own_path == "/" ? "" : own_path;;
       path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) {
    const auto limit = read_number(hierarchy.folder + path + hierarchy.limit);
    const auto used = read_number(hierarchy.folder + path + hierarchy.used);
    // v1 represents "no limit" by a huge number.
    if (limit && used && *limit < (std::uint64_t{1} << 60)) {
      const std::uint64_t left = *limit > *used ? *limit - *used : 0;
      if (!state.cgroup_limit || *limit < *state.cgroup_limit) state.cgroup_limit = limit;
      if (!state.cgroup_available || left < *state.cgroup_available) state.cgroup_available = left;
    }
    if (path.empty()) break;
  }
}

/// Asks sysinfo(2) if /proc is not mounted, although it knows less about reclaimable memory.
void ask_sysinfo(MemoryState& state) {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return;
  state.total = std::uint64_t{info.totalram} * info.mem_unit;
  state.available = (std::uint64_t{info.freeram} + info.bufferram) * info.mem_unit;
  state.swap = std::uint64_t{info.totalswap} * info.mem_unit;
}

}  // namespace

MemoryState read_memory_state(const std::string& root) {
  MemoryState state;
  const std::string meminfo = root + "/proc/meminfo";
  const auto bytes = [&](const char* key) { return read_field(meminfo, key).value_or(0) * 1024; };
  state.total = bytes("MemTotal:");
  state.available = bytes("MemAvailable:");
  state.swap = bytes("SwapTotal:");
  if (state.total == 0) ask_sysinfo(state);
  read_cgroup(root, state);
  return state;
}

std::optional<std::uint64_t> resident_bytes(pid_t pid) {
  const auto pages = parse_process_pages(text_of("/proc/" + std::to_string(pid) + "/statm"));
  return pages ? std::optional(pages->resident * page_bytes()) : std::nullopt;
}

std::optional<std::uint64_t> oom_kills() { return read_field("/proc/vmstat", "oom_kill"); }

bool warm_up_memory(std::uint64_t bytes, bool (*stop)()) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return true;  // if the memory is not warmed up, times are only noisier
  bool finished = true;
  for (std::uint64_t offset = 0; offset < bytes; offset += page_bytes()) {
    if (offset % (std::uint64_t{16} << 20) == 0 && stop != nullptr && stop()) {
      finished = false;
      break;
    }
    static_cast<volatile char*>(memory)[offset] = 1;
  }
  ::munmap(memory, bytes);
  return finished;
}

VmEvents parse_vm_events(std::string_view text) {
  VmEvents events;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const std::size_t blank = line.find(' ');
    std::uint64_t number = 0;
    if (blank == std::string_view::npos ||
        std::from_chars(line.data() + blank + 1, line.data() + line.size(), number).ec != std::errc()) {
      continue;
    }
    const std::string_view name = line.substr(0, blank);
    if (name == "pgfault") events.faults = number;
    if (name == "pgmajfault") events.major_faults = number;
    if (name == "compact_stall") events.compaction_stalls = number;
    if (name == "pgfree") events.freed_pages = number;
    if (name == "nr_anon_transparent_hugepages") events.huge_pages_now = number;
    if (name.starts_with("pgalloc_")) events.allocated_pages = events.allocated_pages.value_or(0) + number;
  }
  return events;
}

VmEvents read_vm_events() {
  const UniqueFd file(::open("/proc/vmstat", O_RDONLY | O_CLOEXEC));
  std::array<char, 32768> text;
  std::size_t length = 0;
  while (file && length < text.size()) {
    const ssize_t taken = ::read(file.get(), text.data() + length, text.size() - length);
    if (taken <= 0) break;
    length += static_cast<std::size_t>(taken);
  }
  return parse_vm_events({text.data(), length});
}

std::optional<std::uint64_t> memory_wait_ns() {
  std::istringstream words(text_of("/proc/pressure/memory"));
  std::string kind;
  std::string total;
  // "some avg10=0.00 avg60=0.00 avg300=0.00 total=0"
  words >> kind >> total >> total >> total >> total;
  constexpr std::string_view kTotal = "total=";
  std::uint64_t waited_us = 0;
  if (kind != "some" || !total.starts_with(kTotal)) return std::nullopt;
  std::from_chars(total.data() + kTotal.size(), total.data() + total.size(), waited_us);
  return waited_us * 1000;
}

}  // namespace zerotax
