#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zerotax::trace {

/// A field of a recorded event.
struct CtfField {
  enum class Kind { kUnsigned, kSigned, kFloat, kText };
  std::string name;
  Kind kind = Kind::kUnsigned;
  std::uint32_t bytes = 0;  ///< of one element
  std::uint32_t count = 1;
  bool array = false;
  std::uint32_t offset = 0;  ///< in the event's bytes
};

/// A type of event.
struct CtfType {
  std::string name;
  std::vector<CtfField> fields;
  std::uint32_t bytes = 0;  ///< of its fields; the record has 8 more before it, and is padded to 8
  bool of_kernel = false;   ///< "kernel_...", or a tracepoint's name: the kernel's, whoever recorded it
  /// nullptr if it has no field of this name.
  [[nodiscard]] const CtfField* field(std::string_view called) const;
  [[nodiscard]] std::uint64_t record_bytes() const { return (8 + std::uint64_t{bytes} + 7) / 8 * 8; }
};

/// The metadata file of a recorded process.
struct CtfMetadata {
  std::string uuid;  ///< its 16 bytes
  pid_t pid = 0;
  std::string process_name;
  std::optional<std::string> mode;
  std::optional<std::string> clock_source;
  std::uint64_t records_without_stream = 0;  ///< that were not kept, and belong to no stream
  std::uint64_t frequency = 0;
  std::uint64_t begin_ticks = 0;         ///< one moment on all clocks
  std::uint64_t begin_monotonic_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint64_t begin_realtime_ns = 0;   ///< since 1970
  std::map<std::uint64_t, CtfType> types;

  /// CLOCK_MONOTONIC, in ns, at this count of ticks.
  [[nodiscard]] std::int64_t monotonic_ns(std::uint64_t ticks) const;
};

/// Reads the TSDL that our recorder writes (and no other's). An event type cut at the end is left out and reported in
/// `problem`. Throws UsageError if our recorder did not write it, or its head is damaged; `path` is for messages.
CtfMetadata parse_ctf_metadata(const std::string& text, const std::string& path, std::string& problem);

}  // namespace zerotax::trace
