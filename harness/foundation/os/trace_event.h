#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zerotax {

/// A tracepoint of the running kernel: its number, and where its fields lie in the raw data of a perf sample.
struct TraceEvent {
  struct Field {
    std::size_t offset = 0;
    std::size_t bytes = 0;
    bool is_signed = false;
    std::string type;       ///< as in C, without a length: "unsigned long", "char", "__data_loc char[]"
    std::size_t count = 0;  ///< elements of an array; 0: not an array
  };
  std::uint64_t id = 0;
  std::map<std::string, Field> fields;  ///< by name; "common_..." are those that all events have

  /// The value of an unsigned field of 4 or 8 bytes; 0 if no such field has this name, or the data is cut.
  [[nodiscard]] std::uint64_t number(const char* field, const unsigned char* data, std::size_t bytes) const;
};

/// From the text of a file "format" (Documentation/trace/events.rst). Nothing if it is not such a text.
std::optional<TraceEvent> parse_trace_event(const std::string& format);

/// Reads an event such as "exceptions/page_fault_user" from tracefs (os/tracefs.h). Nothing if tracefs or the event is
/// missing.
std::optional<TraceEvent> read_trace_event(const std::string& name);

/// All tracepoints of this kernel, "exceptions:page_fault_user", in the order of their names; empty where
/// read_trace_event finds none.
std::vector<std::string> trace_event_names();

}  // namespace zerotax
