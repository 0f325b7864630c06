#include "findings/finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"

namespace zerotax::findings {

std::string severity_word(Severity severity) {
  switch (severity) {
    case Severity::kHigh:
      return "high";
    case Severity::kMedium:
      return "medium";
    case Severity::kLow:
      break;
  }
  return "low";
}

Severity parse_severity(std::string_view word) {
  for (const Severity each : {Severity::kLow, Severity::kMedium, Severity::kHigh}) {
    if (severity_word(each) == word) return each;
  }
  refuse_word(fmt::format("invalid severity '{}'", word), std::string(word), {"low", "medium", "high"});
}

std::string finding_id(const std::string& allocator, const Finding& finding) {
  std::string size = finding.exact ? std::to_string(finding.named_bytes) : format_size(finding.named_bytes);
  size.erase(std::remove(size.begin(), size.end(), ' '), size.end());
  return fmt::format("{}-{}-{}", allocator, finding.name, size);
}

std::uint64_t named_size(std::uint64_t from_bytes, std::uint64_t to_bytes) {
  for (const std::uint64_t size : {100 * kMiB, 20 * kMiB, kMiB, 256 * kKiB, 64 * kKiB}) {
    if (from_bytes <= size && size <= to_bytes) return size;
  }
  return to_bytes;
}

std::string range_text(std::uint64_t from_bytes, std::uint64_t to_bytes) {
  if (from_bytes == to_bytes) return format_size(from_bytes);
  const std::string from = format_size(from_bytes), to = format_size(to_bytes);
  // Sizes on both sides of a threshold look alike.
  if (from == to) return fmt::format("{} to {} bytes", format_count(from_bytes), format_count(to_bytes));
  return fmt::format("{} to {}", from, to);
}

}  // namespace zerotax::findings
