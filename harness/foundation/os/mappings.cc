#include "os/mappings.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "os/unique_fd.h"

namespace zerotax {
namespace {

std::uint64_t parse_number(const char*& text, const char* end, unsigned base) {
  std::uint64_t value = 0;
  for (; text < end; ++text) {
    unsigned digit = 0;
    if (*text >= '0' && *text <= '9') {
      digit = static_cast<unsigned>(*text - '0');
    } else if (*text >= 'a' && *text <= 'f') {
      digit = static_cast<unsigned>(*text - 'a') + 10;
    } else {
      break;
    }
    value = value * base + digit;
  }
  return value;
}

void skip(const char*& text, const char* end, int fields) {
  for (; text < end && fields > 0; ++text) fields -= *text == ' ';
}

/// Parses a line such as "7f00-7f01 rw-p 00000000 fe:00 1234 /path" (proc_pid_maps(5)).
Mapping parse_line(const char* text, const char* end) {
  Mapping mapping{};
  mapping.range.begin = parse_number(text, end, 16);
  ++text;
  mapping.range.end = parse_number(text, end, 16);
  ++text;
  if (end - text < 4) return mapping;
  mapping.readable = text[0] == 'r';
  mapping.writable = text[1] == 'w';
  const bool executable = text[2] == 'x';
  mapping.shared = text[3] == 's';
  skip(text, end, 3);
  mapping.inode = parse_number(text, end, 10);
  while (text < end && *text == ' ') ++text;
  const std::string_view name(text, static_cast<std::size_t>(end - text));
  const bool zeros = name == "/dev/zero" && !mapping.shared;
  if (zeros) mapping.inode = 0;
  mapping.heap = name == "[heap]";
  mapping.stack = name == "[stack]";
  mapping.hugetlb = name.starts_with("/anon_hugepage");
  mapping.memory_file = !zeros && (is_shared_memory_name(name) || name.starts_with("/dev/zero") || mapping.hugetlb);
  mapping.made_code = executable && (name.empty() || name.starts_with("[anon") || name.starts_with("/memfd:"));
  return mapping;
}

}  // namespace

bool is_shared_memory_name(std::string_view name) {
  return name.starts_with("/memfd:") || name.starts_with("/SYSV") || name.starts_with("/dev/shm/");
}

bool for_each_mapping(void (*visit)(void* context, const Mapping& mapping), void* context) {
  // The file of the calling thread is used, because the first thread may have ended.
  const UniqueFd maps(::open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC));
  return maps && for_each_mapping(maps.get(), visit, context);
}

bool for_each_mapping(int maps, void (*visit)(void* context, const Mapping& mapping), void* context) {
  off_t read = 0;
  char buffer[8192];
  std::size_t held = 0;
  for (;;) {
    const ssize_t got = ::pread(maps, &buffer[held], sizeof buffer - held, read);
    if (got < 0) return false;
    if (got == 0) return true;
    read += got;
    held += static_cast<std::size_t>(got);
    const char* line = &buffer[0];
    const char* const end = &buffer[held];
    while (const void* newline = std::memchr(line, '\n', static_cast<std::size_t>(end - line))) {
      visit(context, parse_line(line, static_cast<const char*>(newline)));
      line = static_cast<const char*>(newline) + 1;
    }
    held = static_cast<std::size_t>(end - line);
    std::memmove(&buffer[0], line, held);
  }
}

}  // namespace zerotax
