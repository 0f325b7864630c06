#include <fmt/format.h>

#include "base/units.h"
#include "results.h"

using namespace zerotax;

namespace {

double user_of(const Figures& figures) { return figures.user_s; }
double system_of(const Figures& figures) { return figures.system_s; }

std::string ratio_text(const std::optional<Ratio>& ratio) {
  if (!ratio) return "n/a";
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", ratio->median, ratio->interval.low, ratio->interval.high);
}

Json na(const std::string& why) { return {{"na", why}}; }

Json value_or_na(const std::optional<double>& value, const std::string& why) { return value ? Json(*value) : na(why); }

Json ratio_json(const std::optional<Ratio>& ratio, const std::string& why) {
  if (!ratio) return na(why);
  return {{"median", ratio->median}, {"low", ratio->interval.low}, {"high", ratio->interval.high}};
}

// Returns the values of a metric in all rounds, including failed ones.
Json each_json(const MeasuredProgram& measured, const std::string& contender, double (*figure)(const Figures&)) {
  Json json = Json::array();
  const auto found = measured.runs.find(contender);
  if (found == measured.runs.end()) return json;
  for (const Run& run : found->second) json.push_back(figure(run.figures));
  return json;
}

std::string message_of(const MeasuredProgram& measured, const std::string& contender) {
  const auto found = measured.runs.find(contender);
  return found == measured.runs.end() || found->second.empty() ? "" : found->second.back().message;
}

std::string broken_text(const Promises& promises) {
  std::string text;
  if (!promises.faults_kept) text += " faults,";
  if (!promises.cpu_kept) text += " CPU,";
  if (!promises.faster_kept) text += " slower than default glibc,";
  if (!promises.memory_kept) text += " memory,";
  if (!text.empty()) text.pop_back();
  return text;
}

Json contender_json(const MeasuredProgram& measured, const std::string& name) {
  const std::string status = measured.status(name);
  const std::string why = status == "ok" ? "there is no glibc to compare with" : status;
  Json json{{"status", status},
            {"each_faults", each_json(measured, name, faults_of)},
            {"each_cpu_s", each_json(measured, name, cpu_of)},
            {"faults", value_or_na(measured.median(name, faults_of), why)},
            {"cpu_s", value_or_na(measured.median(name, cpu_of), why)},
            {"user_s", value_or_na(measured.median(name, user_of), why)},
            {"system_s", value_or_na(measured.median(name, system_of), why)},
            {"peak_bytes", value_or_na(measured.median(name, peak_of), why)},
            {"faults_ratio", ratio_json(ratio(measured, name, baseline(measured, faults_of), faults_of), why)},
            {"cpu_ratio", ratio_json(ratio(measured, name, baseline(measured, cpu_of), cpu_of), why)},
            {"cpu_to_default", ratio_json(ratio(measured, name, kDefault, cpu_of), why)},
            {"peak_to_default", ratio_json(ratio(measured, name, kDefault, peak_of), why)}};
  if (const std::string message = message_of(measured, name); !message.empty()) json["message"] = message;
  return json;
}

}  // namespace

std::string program_text(const MeasuredProgram& measured, const std::vector<Contender>& contenders) {
  std::string text = fmt::format("{}: {}\n", measured.program.name, measured.program.does);
  if (!measured.missing.empty()) return text + fmt::format("  n/a: {}\n", measured.missing);
  if (measured.rounds() == 0) return text + "  n/a: no round was completed\n";
  text += fmt::format("{:>14} {:>10} {:>7} {:>7} {:>10} {:>20} {:>20} {:>6}\n", "", "faults", "user, s", "sys, s",
                      "peak", "faults / glibc", "CPU / glibc", "peak /");
  for (const Contender& contender : contenders) {
    const std::string& name = contender.name;
    const std::string status = measured.status(name);
    if (status != "ok") {
      const std::string message = message_of(measured, name);
      text += fmt::format("{:>14} {}{}{}\n", name, status, message.empty() ? "" : ": ", message);
      continue;
    }
    const auto peak = ratio(measured, name, kDefault, peak_of);
    text += fmt::format("{:>14} {:>10} {:>7.3f} {:>7.3f} {:>10} {:>20} {:>20} {:>6}\n", name,
                        format_count(static_cast<std::uint64_t>(*measured.median(name, faults_of))),
                        *measured.median(name, user_of), *measured.median(name, system_of),
                        format_size(static_cast<std::uint64_t>(*measured.median(name, peak_of))),
                        ratio_text(ratio(measured, name, baseline(measured, faults_of), faults_of)),
                        ratio_text(ratio(measured, name, baseline(measured, cpu_of), cpu_of)),
                        peak ? fmt::format("{:.2f}", peak->median) : "n/a");
  }
  const auto promises = judge(measured);
  if (promises && !promises->all())
    text += fmt::format("  promises that adaptive does not keep:{}\n", broken_text(*promises));
  return text;
}

Json program_json(const MeasuredProgram& measured, const std::vector<Contender>& contenders) {
  Json json{{"name", measured.program.name}, {"does", measured.program.does}, {"rounds", measured.rounds()}};
  std::string missing = measured.missing;
  if (missing.empty() && measured.rounds() == 0) missing = "no round was completed";
  if (!missing.empty()) {
    for (const char* key : {"baseline", "contenders", "promises"}) json[key] = na(missing);
    return json;
  }
  constexpr const char* kGlibcFailed = "the program failed under glibc";
  const auto baseline_json = [&](double (*figure)(const Figures&)) {
    const std::string name = baseline(measured, figure);
    return name.empty() ? na(kGlibcFailed) : Json(name);
  };
  json["baseline"] = {{"faults", baseline_json(faults_of)}, {"cpu", baseline_json(cpu_of)}};
  json["contenders"] = Json::object();
  for (const Contender& contender : contenders) {
    json["contenders"][contender.name] = contender_json(measured, contender.name);
  }
  const auto promises = judge(measured);
  json["promises"] = !promises ? na("adaptive was not measured, or the program failed under glibc")
                               : Json{{"faults_kept", promises->faults_kept},
                                      {"cpu_kept", promises->cpu_kept},
                                      {"faster_kept", promises->faster_kept},
                                      {"memory_kept", promises->memory_kept}};
  return json;
}
