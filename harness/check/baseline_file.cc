#include "check/baseline_file.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "check/baseline.h"
#include "core/document.h"
#include "core/output_file.h"
#include "core/plan.h"

namespace zerotax::check {

Json read_baseline(const std::string& path) {
  constexpr const char* kRemedy = "make it anew with `zerotax bless`";
  Json baseline = read_json_file(path);
  check_baseline(baseline, path);
  check_document(baseline, path, "baseline", kRemedy);
  std::set<std::string> keys;
  const Json& points = baseline.at("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Json& point = points[i];
    if (const std::string problem = contradiction_in(point); !problem.empty()) {
      throw UsageError(fmt::format("{} is damaged: /points/{}{}", path, i, problem), kRemedy);
    }
    const std::string key =
        point_key("", point.at("case"), point.at("size_bytes"), point.at("touch"), point.at("thread"));
    if (!keys.insert(key).second) {
      throw UsageError(fmt::format("{} is damaged: /points/{}: the point {} is there twice", path, i, key.substr(1)),
                       kRemedy);
    }
  }
  return baseline;
}

}  // namespace zerotax::check
