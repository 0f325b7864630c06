#include "core/document.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/schema.h"
#include "core/output_file.h"

namespace zerotax {
namespace {

/// Up to version 0.2 a percentile of equal values could be above them by a rounding error.
bool ascend(double low, double high) { return low <= high + 1e-9 * std::abs(high); }

std::string contradiction_here(const Json& figures, const std::string& place) {
  const auto number = [&](const char* key) { return figures.contains(key) && figures.at(key).is_number(); };
  if (number("zeroed_bytes") && number("redundant_zeroed_bytes") &&
      figures.at("redundant_zeroed_bytes") > figures.at("zeroed_bytes")) {
    return fmt::format("{}/redundant_zeroed_bytes: {} is more than all zeroed_bytes ({})", place,
                       figures.at("redundant_zeroed_bytes").dump(), figures.at("zeroed_bytes").dump());
  }
  for (const auto& [key, figure] : figures.items()) {
    if (!figure.is_object() || !figure.contains("p05") || !figure.contains("median") || !figure.contains("p95"))
      continue;
    const auto of = [&](const char* name) { return figure.at(name).get<double>(); };
    if (ascend(of("p05"), of("median")) && ascend(of("median"), of("p95"))) continue;
    return fmt::format("{}/{}: p05, median and p95 do not ascend", place, key);
  }
  return "";
}

}  // namespace

Json read_document(const std::string& path, const std::string& name, const std::string& remedy) {
  Json document = read_json_file(path);
  const std::string schema = "zerotax." + name + "/1";
  const std::string found = document.is_object() ? text_field(document, "schema", "none") : "none";
  if (found != schema) {
    throw UsageError(fmt::format("{} has the schema '{}', not '{}'", path, found, schema), remedy);
  }
  check_document(document, path, name, remedy);
  return document;
}

void check_document(const Json& document, const std::string& where, const std::string& name,
                    const std::string& remedy) {
  const std::string problem = schema_problem(document, name);
  if (!problem.empty()) throw UsageError(fmt::format("{} is damaged: {}", where, problem), remedy);
}

std::string contradiction_in(const Json& point) {
  std::string found = contradiction_here(point, "");
  if (!found.empty() || !point.contains("first_ops")) return found;
  const Json& early = point.at("first_ops");
  for (std::size_t i = 0; i < early.size() && found.empty(); ++i) {
    found = contradiction_here(early[i], fmt::format("/first_ops/{}", i));
  }
  return found;
}

}  // namespace zerotax
