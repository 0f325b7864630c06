#include "exchange/bmf_document.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "exchange/outcome.h"

namespace zerotax::exchange {
namespace {

/// Bencher's limits, in characters. zerotax applies these limits to bytes, because a text has at least as many bytes as
/// characters.
constexpr std::size_t kLongestBenchmark = 1024;
constexpr std::size_t kLongestSlug = 64;

/// Returns the slug of a key: "zeroed-bytes" for "zeroed_bytes".
std::string slug_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return cut_text(printable(key), kLongestSlug);
}

}  // namespace

Json bmf_json(const OutcomeList& list) {
  Json json = Json::object();
  for (const Benchmark& benchmark : list.benchmarks) {
    for (const Measure& measure : benchmark.measures) {
      // JSON has no infinity and no NaN.
      if (!std::isfinite(measure.value)) continue;
      Json& entry = json[cut_text(printable(benchmark.name), kLongestBenchmark)][slug_of(measure.key)];
      entry["value"] = measure.value;
      if (measure.lower && std::isfinite(*measure.lower)) entry["lower_value"] = *measure.lower;
      if (measure.upper && std::isfinite(*measure.upper)) entry["upper_value"] = *measure.upper;
    }
  }
  return json;
}

}  // namespace zerotax::exchange
