#include "judge/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "base/size.h"
#include "base/units.h"

namespace zerotax {
namespace {

std::string metric_text(const NamedMetric& metric) {
  if (!metric.value) return "n/a: " + metric.value.why();
  if (const bool* yes = std::get_if<bool>(&*metric.value)) return *yes ? "yes" : "no";
  const auto* whole = std::get_if<std::uint64_t>(&*metric.value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*metric.value);
  if (metric.name.ends_with("_ns")) return format_ns(number);
  const bool bytes = metric.name.ends_with("bytes");
  if (number != std::floor(number)) return format_number(number) + (bytes ? " bytes" : "");
  const auto count = static_cast<std::uint64_t>(number);
  return bytes ? format_counted(count, "byte") : format_count(count);
}

}  // namespace

std::string severity_word(Severity severity) {
  constexpr const char* kWords[] = {"low", "medium", "high"};
  return kWords[static_cast<std::size_t>(severity)];
}

Severity parse_severity(std::string_view word) {
  for (const Severity each : kSeverities) {
    if (severity_word(each) == word) return each;
  }
  refuse_word(fmt::format("invalid severity '{}'", word), std::string(word), {"low", "medium", "high"});
}

std::string metrics_text(const NamedMetrics& metrics) {
  std::string text;
  for (const NamedMetric& each : metrics) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", each.name, metric_text(each));
  }
  return text;
}

std::string AllocatorFindings::settings(const char* with) const {
  return env.empty() ? "" : fmt::format("{}{}", with, fmt::join(setting_words(env), " "));
}

std::uint64_t AllocatorFindings::count(Severity severity) const {
  return static_cast<std::uint64_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& each) { return each.severity == severity; }));
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

}  // namespace zerotax
