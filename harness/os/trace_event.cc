#include "os/trace_event.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <sstream>

#include "os/unique_fd.h"

namespace zerotax {

std::uint64_t TraceEvent::value(const char* field, const unsigned char* data, std::size_t bytes) const {
  const auto found = fields.find(field);
  if (found == fields.end()) return 0;
  const Field& where = found->second;
  std::uint64_t value = 0;
  if (where.bytes > sizeof value || where.offset + where.bytes > bytes) return 0;
  std::memcpy(&value, data + where.offset, where.bytes);  // x86-64 is little-endian
  return value;
}

std::optional<TraceEvent> parse_trace_event(const std::string& format) {
  TraceEvent event;
  std::istringstream lines(format);
  for (std::string line; std::getline(lines, line);) {
    unsigned long long id = 0;
    if (std::sscanf(line.c_str(), "ID: %llu", &id) == 1) event.id = id;
    // "	field:unsigned long address;	offset:8;	size:8;	signed:0;"
    const std::size_t end = line.find(';');
    if (line.find("field:") == std::string::npos || end == std::string::npos) continue;
    TraceEvent::Field field;
    if (std::sscanf(line.c_str() + end, "; offset:%zu; size:%zu;", &field.offset, &field.bytes) != 2) continue;
    const std::size_t name = line.rfind(' ', end);
    if (name != std::string::npos) event.fields[line.substr(name + 1, end - name - 1)] = field;
  }
  if (event.id == 0 || event.fields.empty()) return std::nullopt;
  return event;
}

std::optional<TraceEvent> read_trace_event(const std::string& name) {
  const UniqueFd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!context || ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return std::nullopt;
  const UniqueFd root(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!root) return std::nullopt;
  const UniqueFd file(::openat(root.get(), ("events/" + name + "/format").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file.get(), &part[0], sizeof part)) > 0;) {
    text.append(&part[0], static_cast<std::size_t>(got));
  }
  return parse_trace_event(text);
}

}  // namespace zerotax
