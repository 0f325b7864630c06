#include "exchange/outcome.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/printable.h"

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

std::string verdict_of(const OutcomeList& list) { return list.verdict.empty() ? word(list.kind) : list.verdict; }

const std::string& label_of(const Outcome& outcome) { return outcome.label.empty() ? outcome.name : outcome.label; }

const std::string& test_of(const Outcome& outcome) { return outcome.test.empty() ? outcome.name : outcome.test; }

std::string after_verdict(const std::string& sentence, const std::string& verdict) {
  return sentence.starts_with(verdict + ": ") ? sentence.substr(verdict.size() + 2) : sentence;
}

bool fails(const OutcomeList& list) {
  return std::any_of(list.outcomes.begin(), list.outcomes.end(), [](const Outcome& each) { return each.fails; });
}

std::string cut_text(std::string text, std::size_t most) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= most) return text;
  std::size_t end = most - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  text.resize(end);
  return text.append(kEllipsis);
}

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
