#include "os/trace_event.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "os/tracefs.h"

namespace zerotax {
std::uint64_t TraceEvent::number(const char* field, const unsigned char* data, std::size_t bytes) const {
  const auto found = fields.find(field);
  if (found == fields.end()) return 0;
  const Field& where = found->second;
  std::uint64_t value = 0;
  if (where.bytes > sizeof value || where.offset + where.bytes > bytes) return 0;
  std::memcpy(&value, data + where.offset, where.bytes);  // the processor is little-endian
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
    int is_signed = 0;
    if (std::sscanf(line.c_str() + end, "; offset:%zu; size:%zu; signed:%d;", &field.offset, &field.bytes, &is_signed) <
        2) {
      continue;
    }
    field.is_signed = is_signed != 0;
    const std::size_t space = line.rfind(' ', end);
    const std::size_t begin = line.find("field:") + 6;
    if (space == std::string::npos || space < begin) continue;
    field.type = line.substr(begin, space - begin);
    std::string name = line.substr(space + 1, end - space - 1);
    if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
      field.count = std::strtoul(name.c_str() + bracket + 1, nullptr, 10);
      name.resize(bracket);
    }
    event.fields[name] = field;
  }
  if (event.id == 0 || event.fields.empty()) return std::nullopt;
  return event;
}

std::optional<TraceEvent> read_trace_event(const std::string& name) {
  return parse_trace_event(Tracefs().read("events/" + name + "/format"));
}

std::vector<std::string> trace_event_names() {
  std::vector<std::string> names;
  std::istringstream lines(Tracefs().read("available_events"));
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace zerotax
