#include "upstream/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/units.h"
#include "base/wrap.h"
#include "findings/points.h"
#include "findings/projects.h"
#include "upstream/embedded.h"
#include "upstream/parts.h"
#include "upstream/reproducer.h"
#include "upstream/tables.h"

namespace zerotax::upstream {

using findings::finding_id;
using findings::upstream_entries;
using findings::upstream_of;
namespace {

/// How a form formats tables and code.
struct Markup {
  bool markdown;

  [[nodiscard]] std::string code(const std::string& text, const char* language = "") const {
    if (markdown) return fmt::format("```{}\n{}```\n", language, text);
    std::string indented;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      indented += "  " + text.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return indented;
  }
  /// Running text: plain forms have lines of their own length.
  [[nodiscard]] std::string prose(const std::string& text) const { return markdown ? text + "\n" : wrap(text, "", ""); }
  [[nodiscard]] std::string item(const std::string& text) const {
    return markdown ? "- " + text + "\n" : wrap(text, "- ", "  ");
  }
};

std::string label_of(const std::string& allocator, const Json& version) {
  return version.is_string() ? allocator + " " + version.get<std::string>() : allocator;
}

std::string mark_words(const std::string& mark) {
  if (mark == "S") return "Read in the source";
  if (mark == "M") return "Measured";
  return "Hypothesis, not confirmed";
}

std::string causes(const ReportData& data, const Markup& markup) {
  std::string text;
  for (const Json& cause : upstream_entries(data.subject.allocator, "causes", data.finding)) {
    text += markup.item(fmt::format("{}: {}", mark_words(cause.at("mark")), cause.at("words").get<std::string>()));
  }
  if (text.empty()) text = markup.item(fmt::format("{}: {}", mark_words("unconfirmed"), hypothesis(data.finding)));
  return text;
}

std::string duplicates(const ReportData& data, const Markup& markup) {
  std::string text;
  for (const Json& each : upstream_entries(data.subject.allocator, "duplicates", data.finding)) {
    std::string state = each.at("state").get<std::string>();
    if (each.contains("fixed_in")) {
      std::string versions;
      for (const Json& version : each.at("fixed_in"))
        versions += (versions.empty() ? "" : ", ") + version.get<std::string>();
      state += " in " + versions;
    }
    text += markup.item(fmt::format("{} ({}; {}): {}{}", each.at("id").get<std::string>(), state,
                                    each.at("url").get<std::string>(), each.at("words").get<std::string>(),
                                    state == "open" ? " This belongs there rather than into a new report." : ""));
  }
  return text.empty() ? markup.prose("None that we know of.") : text;
}

std::string workaround(const ReportData& data, const Markup& markup) {
  const std::string table = knob_table(data);
  if (table.empty()) return markup.prose("We know of no setting that would avoid it.");
  const bool avoided = std::any_of(data.knobs.begin(), data.knobs.end(), [](const KnobTrial& trial) {
    return trial.effect.contains("avoids") && trial.effect.at("avoids").get<bool>();
  });
  std::string text =
      markup.prose(fmt::format("{} Each was tried, one operation of {} bytes, touch {:g}, {} thread:",
                               avoided ? "There is a setting that avoids it." : "No setting that we know of avoids it.",
                               format_count(data.size_bytes), table_touch(data), table_thread(data)));
  return text + "\n" + table;
}

std::string field(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (value.is_string()) return value.get<std::string>();
  return is_not_available(value) ? "n/a: " + text_field(value, "na", "") : value.dump();
}

std::string environment(const ReportData& data, const Markup& markup) {
  const Json& machine = data.environment;
  const auto size_words = [](const Json& bytes) { return format_size(bytes.get<std::uint64_t>()); };
  std::string env;
  for (const auto& [key, value] : data.subject.env.items()) env += fmt::format(" {}={}", key, value.get<std::string>());
  std::string text =
      markup.item(fmt::format("allocator: {}, {}{}", label_of(data.subject.allocator, data.subject.version),
                              data.shown.preload ? *data.shown.preload : "the C library's own", env));
  text += markup.item(fmt::format("kernel: Linux {} ({})", field(machine, "kernel"), field(machine, "machine")));
  text +=
      markup.item(fmt::format("CPU: {}, {} of them; memory {}, swap {}", field(machine, "cpu"), field(machine, "cpus"),
                              size_words(machine.at("memory_bytes")), size_words(machine.at("swap_bytes"))));
  text += markup.item(
      fmt::format("transparent huge pages: {} (the reproducer switches them off for itself)", field(machine, "thp")));
  text += markup.item(fmt::format("C library: {}; compiler: {}", field(machine, "libc"), data.compiler));
  return text + markup.item(fmt::format("measured {} by zerotax {}", data.started, ZEROTAX_VERSION));
}

std::string run_text(const ReproducerRun& run) {
  return fmt::format("{}: {}\n{}", label_of(run.allocator, run.version.empty() ? Json() : Json(run.version)), run.ended,
                     run.output);
}

std::string diagnostics(const ReportData& data, const Markup& markup) {
  if (data.diagnostics.empty()) return markup.prose("None are asked for.");
  return markup.code(data.diagnostics);
}

std::string re_check(const ReportData& data) {
  return fmt::format("Measured with {}, as installed here. Not checked again on the current master branch.",
                     label_of(data.subject.allocator, data.subject.version));
}

}  // namespace

std::string report_title(const ReportData& data) {
  return fmt::format("{}: {}", label_of(data.subject.allocator, data.subject.version), data.finding.title);
}

ReportText write_report(const ReportData& data) {
  const Json* upstream = upstream_of(data.subject.allocator);
  const auto fix = known_fix(data);
  const std::string form = fix                   ? "distribution"
                           : upstream == nullptr ? "github"
                                                 : upstream->at("form").get<std::string>();
  const Markup markup{form == "github" || form == "onetbb"};
  const std::string table_words = fmt::format(
      "A whole operation: {}, {}free; {} thread. fresh: the process's first; reused: later ones (median). "
      "Other allocators on the same machine, in turn with this one.",
      case_of(data.finding) == "refill_loop" ? "malloc of 8 buffers" : "calloc",
      table_touch(data) > 0 ? "a byte written to each page, " : "", table_thread(data));
  const std::vector<std::pair<std::string, std::string>> values{
      {"TITLE", report_title(data)},
      {"SENTENCE", markup.prose(data.finding.sentence)},
      {"ID", finding_id(data.subject.allocator, data.finding)},
      {"ALLOCATOR", data.subject.allocator},
      {"PROJECT", upstream == nullptr ? data.subject.allocator : upstream->at("project").get<std::string>()},
      {"TRACKER", upstream == nullptr ? "its tracker" : upstream->at("tracker").get<std::string>()},
      {"VERSION", data.subject.version.is_string() ? data.subject.version.get<std::string>() : "unknown"},
      {"COMPONENT", upstream == nullptr ? "" : upstream->value("component", "")},
      {"HOW", data.how},
      {"REPRODUCER", markup.code(data.source, "c")},
      {"SHOWN", markup.code(run_text(data.shown))},
      {"CONTROL", markup.code(run_text(data.control))},
      {"TABLE_WORDS", markup.prose(table_words)},
      {"TABLE", size_table(data)},
      {"THRESHOLDS", threshold_list(data)},
      {"PROFILE", markup.code(data.profile_text)},
      {"CAUSES", causes(data, markup)},
      {"WORKAROUND", workaround(data, markup)},
      {"DUPLICATES", duplicates(data, markup)},
      {"ENVIRONMENT", environment(data, markup)},
      {"DIAGNOSTICS", diagnostics(data, markup)},
      {"RE_CHECK", markup.prose(re_check(data))},
      {"FIXED_IN", fix ? fix->version : ""},
      {"FIXED_BY", fix ? fix->duplicate.at("url").get<std::string>() : ""},
  };
  return {markup.markdown ? "report.md" : "report.txt", fill_in(embedded_forms().at(form), values)};
}

}  // namespace zerotax::upstream
