#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/markdown.h"
#include "base/printable.h"
#include "base/units.h"
#include "base/wrap.h"
#include "exchange/forms.h"
#include "judge/projects.h"
#include "report/report.h"
#include "report/reproducer.h"

namespace zerotax::report {

namespace {

/// How a form formats tables and code.
struct Markup {
  bool markdown;

  [[nodiscard]] std::string code(const std::string& text, const char* language = "") const {
    if (markdown) return markdown_block(text, language);
    std::string indented;
    const std::string lines = printable_lines(text);
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = std::min(lines.find('\n', begin), lines.size());
      indented += "  " + lines.substr(begin, end - begin) + "\n";
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

std::string mark_words(const std::string& mark) {
  if (mark == "S") return "Read in the source";
  if (mark == "M") return "Measured";
  return "Hypothesis, not confirmed";
}

std::string causes(const ReportData& data, const Markup& markup) {
  std::string text;
  for (const ProjectEntry& cause : causes_of(data)) {
    text += markup.item(fmt::format("{}: {}", mark_words(cause.mark), cause.words));
  }
  return text;
}

std::string duplicates(const ReportData& data, const Markup& markup) {
  std::string text;
  for (const ProjectIssue& each : entries_about(data.subject.allocator, &Project::duplicates, data.finding)) {
    const std::string fixed = each.fixed_in ? fmt::format(" in {}", fmt::join(*each.fixed_in, ", ")) : "";
    text += markup.item(fmt::format("{} ({}{}; {}): {}{}", each.id, each.state, fixed, each.url, each.words,
                                    each.state == "open" ? " This belongs there rather than into a new report." : ""));
  }
  return text.empty() ? markup.prose("None that we know of.") : text;
}

std::string workaround(const ReportData& data, const Markup& markup) {
  const std::string table = knob_table(data, markup.markdown);
  if (table.empty()) return markup.prose("We know of no setting that would avoid it.");
  const bool avoided = std::any_of(data.knobs.begin(), data.knobs.end(), [](const KnobTrial& trial) {
    return trial.effect && trial.effect->avoids.value_or(false);
  });
  const auto tried = static_cast<std::size_t>(
      std::count_if(data.knobs.begin(), data.knobs.end(), [](const auto& trial) { return bool{trial.effect}; }));
  const std::string how_many = tried == data.knobs.size() ? "Each was tried"
                               : tried == 0               ? "None could be tried"
                                            : fmt::format("{} of {} were tried", tried, data.knobs.size());
  std::string text =
      markup.prose(fmt::format("{} {}, one operation of {} bytes, touch {:g}, {} thread:",
                               avoided      ? "There is a setting that avoids it."
                               : tried == 0 ? "Whether a setting avoids it is unknown."
                                            : "No setting that was tried avoids it.",
                               how_many, format_count(data.size_bytes), table_touch(data), table_thread(data)));
  return text + "\n" + table;
}

std::vector<std::string> machine_lines(const ReportData& data) {
  const Environment& found = data.environment;
  const auto word = [](const auto& value) { return value ? fmt::format("{}", *value) : "n/a: " + value.why(); };
  return {fmt::format("kernel: Linux {} ({})", word(found.kernel), word(found.machine)),
          fmt::format("CPU: {}, {} of them; memory {}, swap {}", word(found.cpu), word(found.cpus),
                      format_size(*found.memory_bytes), format_size(*found.swap_bytes)),
          fmt::format("transparent huge pages: {} (the reproducer switches them off for itself)", word(found.thp)),
          fmt::format("C library: {}; compiler: {}", word(found.libc), data.compiler)};
}

std::string environment(const ReportData& data, const Markup& markup) {
  std::string text =
      markup.item(fmt::format("allocator: {}, {}{}", data.subject.name(),
                              data.shown.preload.value_or("the C library's own"), data.subject.settings()));
  for (const std::string& line : machine_lines(data)) text += markup.item(line);
  return text + markup.item(fmt::format("measured {} by zerotax {}", data.started, ZEROTAX_VERSION));
}

std::string run_text(const ReproducerRun& run) {
  return fmt::format("{}{}: {}\n{}", run.allocator, run.version ? " " + *run.version : "", run.ended, run.output);
}

std::string diagnostics(const ReportData& data, const Markup& markup) {
  if (data.diagnostics.empty()) return markup.prose("None are asked for.");
  return markup.code(data.diagnostics);
}

std::string re_check(const ReportData& data) {
  return fmt::format("Measured with {}, as installed here. Not checked again on the current master branch.",
                     data.subject.name());
}

}  // namespace

std::string report_title(const ReportData& data) {
  return fmt::format("{}: {}", data.subject.name(), data.finding.title);
}

ReportText write_report(const ReportData& data) {
  const Project* project = project_of(data.subject.allocator);
  const auto fix = known_fix(data);
  const std::string form = fix ? "distribution" : project == nullptr ? "github" : project->form;
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
      {"PROJECT", project == nullptr ? data.subject.allocator : project->project},
      {"TRACKER", project == nullptr ? "its tracker" : project->tracker},
      {"VERSION", data.subject.version.value_or("unknown")},
      {"COMPONENT", project == nullptr ? "" : project->component.value_or("")},
      {"HOW", data.how},
      {"REPRODUCER", markup.code(data.source, "c")},
      {"SHOWN", markup.code(run_text(data.shown))},
      {"CONTROL", markup.code(run_text(data.control))},
      {"TABLE_WORDS", markup.prose(table_words)},
      {"TABLE", size_table(data, markup.markdown)},
      {"THRESHOLDS", threshold_list(data)},
      {"PROFILE", markup.code(data.profile_text)},
      {"CAUSES", causes(data, markup)},
      {"WORKAROUND", workaround(data, markup)},
      {"DUPLICATES", duplicates(data, markup)},
      {"ENVIRONMENT", environment(data, markup)},
      {"DIAGNOSTICS", diagnostics(data, markup)},
      {"RE_CHECK", markup.prose(re_check(data))},
      {"FIXED_IN", fix ? fix->version : ""},
      {"FIXED_BY", fix ? fix->issue.url : ""},
  };
  return {markup.markdown ? "report.md" : "report.txt", fill_in(embedded_forms().at(form), values)};
}

}  // namespace zerotax::report
