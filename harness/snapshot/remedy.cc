#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/units.h"
#include "snapshot/document.h"

namespace zerotax::snapshot {
namespace {

/// What is left of the faults: of more than a remedy removes, and of more than measuring twice would differ by.
constexpr double kRemoved = 0.01;
constexpr double kReduced = 0.9;

double median_of(const Json& spread) { return spread.at("median").get<double>(); }

/// All CPU time: where a thread runs for a few ticks only, its division between user mode and kernel is rough.
double cpu_of(const Json& part, const char* user, const char* system) {
  return median_of(part.at(user)) + median_of(part.at(system));
}

Json measured_after_end(const Json& result) {
  if (result.at("status") != "ok") return not_available(text_field(result, "reason", "it failed"));
  return result.value("after_end", not_available("it was written by an earlier version"));
}

Json traced_reuses(const Json& result) {
  const Json& held = result.at("faults_held");
  return is_not_available(held) ? held : held.at("after_end").at("reuses");
}

const char* effect_of(double without, double with) {
  if (without <= 0) return "none";
  if (with <= kRemoved * without) return "removes";
  return with <= kReduced * without ? "reduces" : "none";
}

std::string sentence_of(const std::string& name, const Json& remedy) {
  const Json& reuses = remedy.at("reuse_faults");
  const bool traced = !is_not_available(reuses);
  const Json& faults = traced ? reuses : remedy.at("faults");
  const double saved = remedy.at("saved_ns");
  const auto count = [](const Json& number) { return format_count(static_cast<std::uint64_t>(number.get<double>())); };
  const std::string what = remedy.at("effect") == "removes"   ? "removes the faults"
                           : remedy.at("effect") == "reduces" ? "removes some of the faults"
                                                              : "does not help";
  return fmt::format(
      "{} {}: the writers take {} {}faults after the child's end ({} with {}) and {} of CPU time ({}); the helper "
      "thread takes {}. In all, {} {}.",
      name, what, count(faults.at("with")), traced ? "reuse " : "", count(faults.at("without")),
      remedy.at("of").get<std::string>(), format_ns(remedy.at("writers_cpu_ns").at("with")),
      format_ns(remedy.at("writers_cpu_ns").at("without")), format_ns(remedy.at("helper_cpu_ns")),
      format_ns(std::abs(saved)), saved < 0 ? "more" : "less");
}

}  // namespace

std::string remedied_alternative(const Json& snapshot, const Json& result) {
  for (const Json& alternative : snapshot.at("alternatives")) {
    if (alternative.at("name") == result.at("alternative")) return text_field(alternative, "remedy_of", "");
  }
  return "";
}

Json remedy_json(const Json& snapshot, const Json& result) {
  const std::string of = remedied_alternative(snapshot, result);
  if (of.empty()) return not_available("it is no remedy");
  const Json& results = snapshot.at("results");
  const auto base = std::find_if(results.begin(), results.end(), [&](const Json& each) {
    return each.at("alternative") == of && each.at("allocator") == result.at("allocator");
  });
  if (base == results.end()) return not_available(fmt::format("the alternative {} was not measured", of));
  Json without = measured_after_end(*base);
  Json with = measured_after_end(result);
  if (is_not_available(without)) return without;
  if (is_not_available(with)) return with;
  if (is_not_available(with.at("helper"))) return with.at("helper");
  const auto pair = [&](const char* key) {
    return Json{{"without", median_of(without.at(key))}, {"with", median_of(with.at(key))}};
  };
  const Json reuses_without = traced_reuses(*base);
  const Json reuses_with = traced_reuses(result);
  Json remedy{{"of", of}, {"faults", pair("writers_faults")}, {"writers_system_ns", pair("writers_system_ns")}};
  if (is_not_available(reuses_without) || is_not_available(reuses_with)) {
    remedy["reuse_faults"] = is_not_available(reuses_without) ? reuses_without : reuses_with;
  } else {
    remedy["reuse_faults"] = {{"without", reuses_without}, {"with", reuses_with}};
  }
  const double writers_without = cpu_of(without, "writers_user_ns", "writers_system_ns");
  const double writers_with = cpu_of(with, "writers_user_ns", "writers_system_ns");
  const double helper = cpu_of(with.at("helper"), "user_ns", "system_ns");
  remedy["writers_cpu_ns"] = {{"without", writers_without}, {"with", writers_with}};
  remedy["helper_cpu_ns"] = helper;
  remedy["saved_ns"] = writers_without - writers_with - helper;
  const Json& counts = is_not_available(remedy["reuse_faults"]) ? remedy["faults"] : remedy["reuse_faults"];
  remedy["effect"] = effect_of(counts.at("without"), counts.at("with"));
  remedy["sentence"] = sentence_of(result.at("alternative"), remedy);
  return remedy;
}

}  // namespace zerotax::snapshot
