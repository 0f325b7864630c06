#include <fmt/format.h>

#include "drive/results.h"

namespace zerotax {
namespace {

/// RFC 4180: a field with a comma, quote or line break stands in quotes, its quotes doubled.
std::string field(const Json& value) {
  if (value.is_null() || is_not_available(value)) return "";
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

}  // namespace

std::string points_csv(const std::vector<Json>& points) {
  static const std::vector<std::string> plain = {"allocator", "version", "preload", "env",    "case",  "size_bytes",
                                                 "touch",     "thread",  "ops",     "status", "reason"};
  static const std::vector<std::string> spreads = {"calloc_ns", "touch_ns", "free_ns"};
  static const std::vector<std::string> figures = {
      "zero_ns",      "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zeroed_method", "calloc_faults",
      "touch_faults", "free_faults",  "calloc_syscalls",        "free_syscalls"};
  // Of cases that receive; empty for the others.
  static const std::vector<std::string> transfers = {
      "received_bytes", "mb_per_s", "cpu_s_per_gb", "zeroed_per_received_byte", "redundant_per_received_byte",
      "faults_per_mb"};
  std::string text;
  for (const std::string& name : plain) text += name + ",";
  for (const std::string& name : spreads) text += fmt::format("{0}_median,{0}_p05,{0}_p95,", name);
  for (const std::string& name : figures) text += name + ",";
  for (const std::string& name : transfers) text += name + (name == transfers.back() ? "\n" : ",");
  for (const Json& point : points) {
    for (const std::string& name : plain) text += field(point.at(name)) + ",";
    for (const std::string& name : spreads) {
      const Json& spread = point.at(name);
      for (const char* part : {"median", "p05", "p95"}) {
        text += (is_not_available(spread) ? "" : field(spread.at(part))) + ",";
      }
    }
    for (const std::string& name : figures) text += field(point.at(name)) + ",";
    for (const std::string& name : transfers) {
      text += (point.contains("transfer") ? field(point.at("transfer").at(name)) : "") +
              (name == transfers.back() ? "\n" : ",");
    }
  }
  return text;
}

}  // namespace zerotax
