#include "files/document.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/schema.h"
#include "files/output_file.h"

namespace zerotax {

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

Json new_document(const std::string& schema) { return {{"schema", schema}, {"zerotax_version", ZEROTAX_VERSION}}; }

bool is_bencher_metrics(const Json& document) {
  const auto is_measure = [](const Json& each) { return each.is_object() && each.value("value", Json()).is_number(); };
  return document.is_object() && !document.empty() &&
         std::all_of(document.begin(), document.end(), [&](const Json& each) {
           return each.is_object() && !each.empty() && std::all_of(each.begin(), each.end(), is_measure);
         });
}

}  // namespace zerotax
