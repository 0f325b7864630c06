#include "largecache/adaptive/pressure.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

namespace zerotax::largecache {
namespace {

// Reads the start of a file without stdio, because stdio allocates. Returns an empty text if the file cannot be read.
template <std::size_t N>
std::string_view read_file(const char* path, std::array<char, N>& text) {
  const int saved_errno = errno;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = -1;
  if (file >= 0) {
    length = read(file, text.data(), text.size());
    close(file);
  }
  errno = saved_errno;
  return length > 0 ? std::string_view(text.data(), static_cast<std::size_t>(length)) : std::string_view();
}

// Returns the number at the start of the text; UINT64_MAX for "max" and for any text that is not a number.
std::uint64_t parse_number(std::string_view text) {
  std::uint64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
  }
  return digits == 0 ? UINT64_MAX : number;
}

std::uint64_t number_in(const char* path) {
  std::array<char, 64> text;
  return path[0] == '\0' ? UINT64_MAX : parse_number(read_file(path, text));
}

// Concatenates texts to a path, which is empty if the texts do not fit.
template <std::size_t N>
void join(std::array<char, N>& path, std::initializer_list<std::string_view> parts) {
  std::size_t length = 0;
  path[0] = '\0';
  for (const std::string_view part : parts) length += part.size();
  if (length >= N) return;
  char* at = path.data();
  for (const std::string_view part : parts) {
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  *at = '\0';
}

// The process's control group, from /proc/self/cgroup (cgroups(7)): the group of version 1's memory controller, or the
// group of version 2.
struct Group {
  std::string_view path;
  bool version_1 = false;
};

// Returns the text before the next `end`, and removes both from `text`. Avoids string_view::substr, which may throw and
// would thus need the C++ runtime.
std::string_view take_until(char end, std::string_view& text) {
  const std::size_t length = std::min(text.find(end), text.size());
  const std::string_view taken(text.data(), length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

Group find_group(std::string_view lines) {
  Group group;
  while (!lines.empty()) {
    std::string_view line = take_until('\n', lines);
    take_until(':', line);  // number of the hierarchy
    const std::string_view controllers = take_until(':', line);
    if (controllers == "memory") return {line, true};
    if (controllers.empty()) group.path = line;
  }
  return group;
}

std::uint64_t microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

Pressure::Pressure(const char* root) {
  join(stall_, {root, "/proc/pressure/memory"});
  Path self;
  join(self, {root, "/proc/self/cgroup"});
  std::array<char, 2048> text;
  const Group group = find_group(read_file(self.data(), text));
  const std::string_view path = group.path == "/" ? std::string_view() : group.path;
  if (group.version_1) {
    join(usage_, {root, "/sys/fs/cgroup/memory", path, "/memory.usage_in_bytes"});
    join(limit_, {root, "/sys/fs/cgroup/memory", path, "/memory.limit_in_bytes"});
  } else if (!group.path.empty()) {
    join(usage_, {root, "/sys/fs/cgroup", path, "/memory.current"});
    join(limit_, {root, "/sys/fs/cgroup", path, "/memory.max"});
    join(high_, {root, "/sys/fs/cgroup", path, "/memory.high"});
  }
  waits_for_memory();
}

bool Pressure::is_high() {
  const bool waits = waits_for_memory();
  return waits || group_is_near_its_limit();
}

bool Pressure::waits_for_memory() {
  std::array<char, 256> text;
  const std::string_view some = read_file(stall_.data(), text);
  const std::size_t total = some.find("total=");
  if (total == std::string_view::npos) return false;
  const std::uint64_t stall = parse_number({some.data() + total + 6, some.size() - total - 6});
  const std::uint64_t now = microseconds();
  const bool first = last_time_us_ == 0;
  const bool waits = !first && (stall - last_stall_us_) * 20 > now - last_time_us_;
  last_stall_us_ = stall;
  last_time_us_ = now;
  return waits;
}

bool Pressure::group_is_near_its_limit() const {
  const std::uint64_t usage = number_in(usage_.data());
  if (usage == UINT64_MAX) return false;
  const std::uint64_t limit = group_limit();
  return limit != UINT64_MAX && usage > limit / 10 * 9;
}

std::uint64_t Pressure::group_limit() const {
  const std::uint64_t limit = number_in(limit_.data());
  const std::uint64_t high = number_in(high_.data());
  return limit < high ? limit : high;
}

}  // namespace zerotax::largecache
