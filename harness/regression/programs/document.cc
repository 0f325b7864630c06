#include "programs/document.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/fields.h"
#include "base/names.h"
#include "base/printable.h"
#include "files/document.h"
#include "os/child.h"
#include "os/environment.h"
#include "programs/verdict.h"
#include "record/result.h"
#include "record/runs/document.h"

namespace zerotax::programs {

void to_json(Json& json, const SiteChange& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, kind, place, called_by, before, after))
  json["line"] = place_words(value);
}

/// A call stack of a baseline, with its key.
struct SiteEntry : SiteKey, SiteRange {};
ZEROTAX_FIELDS(SiteEntry, kind, stack, place, numbers)
struct ProgramEntry : Program {
  std::vector<SiteEntry> sites;  ///< in place of the map
};
ZEROTAX_FIELDS(ProgramEntry, name, command, env, exit_status, runs, measured_on, metrics, processes, sites)

void to_json(Json& json, const Program& program) {
  ProgramEntry entry{program, {}};
  for (const auto& [key, site] : program.sites) entry.sites.push_back({key, site});
  to_json(json, entry);
}
void from_json(const Json& json, Program& program) {
  const auto entry = json.get<ProgramEntry>();
  program = entry;
  program.name = printable(program.name);
  for (const SiteEntry& site : entry.sites) program.sites.emplace(site, site);
}

void to_json(Json& json, const Change& value) {
  json["process"] = value.process.empty() ? Json() : Json(value.process);
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, metric, direction, before, after))
  json["line"] = words_of(value);
}

namespace {

/// A condition in words.
template <typename T>
std::string condition(const Measured<T>& found) {
  return found ? fmt::format("{}", *found) : "unknown";
}

}  // namespace

Json conditions_now(const std::string& allocator) {
  const Environment environment = describe_environment();
  const std::string libc = condition(environment.libc);
  const std::string called = file_name(allocator).starts_with("libc.so") ? libc : allocator;
  return {{"kernel", condition(environment.kernel)},
          {"thp", condition(environment.thp)},
          {"libc", libc},
          {"aslr", can_fix_layout() ? "fixed layout" : "random layout"},
          {"allocator", called.empty() ? "unknown" : called},
          {"cpus", condition(environment.cpus)},
          {"page_bytes", condition(environment.page_bytes)},
          {"zerotax", ZEROTAX_VERSION}};
}

Json baseline_json(const Baseline& baseline) {
  Json json{{"schema", "zerotax.program_baseline/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  json["programs"] = baseline.programs;
  return json;
}

Baseline read_baseline(const std::string& path) {
  constexpr const char* kRemedy = "make a new one with `zerotax bless --baseline FILE -- COMMAND`";
  const Json json = read_document(path, "program_baseline", kRemedy);
  Baseline baseline;
  std::set<std::string> names;
  for (const Json& each : json.at("programs")) {
    const auto refuse = [&](const char* problem) {
      throw UsageError(
          fmt::format("{} is damaged: program '{}'{}", path, printable(text_field(each, "name", "")), problem),
          kRemedy);
    };
    try {
      const Program& program = baseline.programs.emplace_back(each.get<Program>());
      if (!names.insert(program.name).second) refuse(": it occurs twice");
    } catch (const std::invalid_argument& problem) {
      refuse(problem.what());
    }
  }
  return baseline;
}

ZEROTAX_FIELDS_WRITTEN(TimedPair, before_cpu_ns, after_cpu_ns, before_wall_ns, after_wall_ns)

void to_json(Json& json, const ComparedTime& value) {
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, name, before_ns, after_ns))
  const TimeVerdict& verdict = value.verdict;
  json["verdict"] = word_of(verdict.kind);
  const TimeRatio ratio = ratio_of(verdict);
  json["ratio"] = {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
  json["p"] = verdict.adjusted_p;
  json["line"] = words_of(value);
}

Json compare_json(const Comparison& value) {
  Json json{{"schema", "zerotax.program_compare/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  json["state"] = value.complete ? "complete" : "interrupted";
  json["verdict"] = value.counts.verdict;
  if (!value.counts.advice.empty()) json["advice"] = value.counts.advice;
  json["changes"] = value.counts.changes;
  json["sites"] = value.counts.sites;
  json["not_compared"] = value.counts.not_compared;
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, sentence, passed, before, after, times, pairs))
  return json;
}

Json check_json(const Check& value) {
  Json json{{"schema", "zerotax.program_check/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, verdict, sentence, strict, passed, runs, measured_on,
                                           changes, sites, not_compared))
  json["conditions"] = Json::array();
  for (const ConditionDifference& each : value.conditions) json["conditions"].push_back(each.sentence);
  json["accept"] = value.accept;
  if (!value.advice.empty()) json["advice"] = value.advice;
  json["name"] = value.subject.name;
  json["command"] = value.subject.command;
  json["env"] = value.subject.env;
  json["baseline"] = {{"file", value.baseline_path},
                      {"runs", value.baseline.runs},
                      {"measured_on", value.baseline.measured_on},
                      {"metrics", value.baseline.metrics}};
  json["metrics"] = value.measured.all;
  json["processes"] = value.measured.processes;
  json["notes"] = value.measured.notes;
  for (const MetricRow& row : metric_rows()) json["words"][row.key] = row.name;
  return json;
}

Json checks_json(const Checks& value) {
  Json json{{"schema", "zerotax.program_checks/1"}, {"zerotax_version", ZEROTAX_VERSION}};
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(ZEROTAX_WRITE_FIELD, verdict, sentence, passed))
  for (const Check& check : value.checks) json["checks"].push_back(check_json(check));
  return json;
}

}  // namespace zerotax::programs
