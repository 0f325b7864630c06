#include "os/vm_events.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "os/unique_fd.h"

namespace zerotax {

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

}  // namespace zerotax
