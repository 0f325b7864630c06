#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/lines.h"
#include "base/printable.h"
#include "base/table.h"
#include "base/units.h"
#include "exchange/forms.h"
#include "judge/points.h"
#include "judge/projects.h"
#include "os/page.h"
#include "os/print.h"
#include "point/typed_point.h"
#include "report/report.h"
#include "report/reproducer.h"

namespace zerotax::report {

void say_step(const std::string& what) { print_text(stderr, "report: {}\n", what); }

std::string case_of(const Finding& finding) { return finding.rule == "refill-storm" ? "refill_loop" : "calloc_loop"; }

std::optional<KnownFix> known_fix(const ReportData& data) {
  for (const auto& issue : entries_about(data.subject.allocator, &Project::duplicates, data.finding)) {
    if (const auto version = fixed_later(issue, data.subject.version.value_or(""))) return KnownFix{issue, *version};
  }
  return std::nullopt;
}

std::vector<ProjectEntry> causes_of(const ReportData& data) {
  auto causes = entries_about(data.subject.allocator, &Project::causes, data.finding);
  if (causes.empty()) causes.push_back({{}, {}, {}, hypothesis(data.finding), "unconfirmed"});
  return causes;
}

const Point* point_at(const std::vector<Point>& points, const std::string& allocator, const std::string& case_name,
                      std::uint64_t size, double touch, const std::string& thread) {
  const auto found = std::find_if(points.begin(), points.end(), [&](const Point& point) {
    return point.allocator == allocator && point.case_name == case_name && point.size_bytes == size &&
           point.touch == touch && point.thread == thread;
  });
  return found == points.end() ? nullptr : &*found;
}

namespace {

/// Returns the GB/s of an operation. Returns nothing if less than half of the bytes were written, because memory
/// bandwidth then does not limit the operation.
std::optional<double> rate(std::optional<double> ns, std::uint64_t bytes, std::uint64_t written) {
  return ns && *ns > 0 && written >= bytes / 2 ? std::optional(static_cast<double>(bytes) / *ns) : std::nullopt;
}

/// Returns the bytes written in the first operation of the process: the bytes zeroed by the kernel and the allocator,
/// or the bytes touched by the program, whichever are more.
std::uint64_t written_first(const Point& point, std::uint64_t bytes) {
  const std::uint64_t zeroed =
      point.first()->count(Metric::kZeroedBytes).value_or(0) + page_bytes() * first_operation_faults(point).value_or(0);
  return std::max(zeroed, static_cast<std::uint64_t>(point.touch * static_cast<double>(bytes)));
}

/// Returns the bytes that were zeroed in a later operation. Bytes that the program touches do not count, because their
/// pages may already be populated.
std::uint64_t written_later(const Point& point) {
  const std::uint64_t faulted = page_bytes() * operation_faults(point).value_or(0);
  return point.count(Metric::kZeroedBytes).value_or(0) +
         std::max(point.count(Metric::kKernelZeroedBytes).value_or(0), faulted);
}

template <typename T>
Cell cell(const std::optional<T>& value) {
  return value ? Cell(*value) : Cell::not_available();
}

/// Returns the effect of a setting on a finding. A setting may end the finding, but cause another kind of needless
/// zeroing.
const char* verdict_of(const KnobEffect& effect, std::uint64_t size) {
  if (!effect.avoids) return "shows";
  if (!*effect.avoids) return "still shows";
  const auto& redundant = effect.redundant_zeroed_bytes;
  return redundant && is_much(*redundant, size) ? "gone, but the block is zeroed needlessly" : "gone";
}

}  // namespace

double table_touch(const ReportData& data) {
  double least = 1;
  for (const EvidencePoint& point : data.finding.evidence) least = std::min(least, point.touch);
  return least;
}

std::string table_thread(const ReportData& data) {
  // Returns the worker if the finding is a difference between threads, or if only the worker has the finding. Otherwise
  // returns the main thread.
  const auto& evidence = data.finding.evidence;
  const bool main =
      data.finding.rule != "worker-differs" &&
      std::any_of(evidence.begin(), evidence.end(), [](const EvidencePoint& point) { return point.thread == "main"; });
  return main ? "main" : "worker";
}

std::string size_table(const ReportData& data, bool markdown) {
  std::vector<const Point*> points;
  for (const Point& point : data.points) {
    if (point.touch == table_touch(data) && point.thread == table_thread(data)) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point* a, const Point* b) { return a->size_bytes < b->size_bytes; });
  Table table({{"size (bytes)", Unit::kCount, 13},
               {"allocator", Unit::kText, 18},
               {"fresh", Unit::kNs, 8},
               {"GB/s", Unit::kNumber, 7},
               {"faults", Unit::kCount, 8},
               {"reused", Unit::kNs, 8},
               {"GB/s", Unit::kNumber, 9},
               {"faults", Unit::kCount, 8}});
  for (const Point* point : points) {
    if (!point->is_ok() || point->first() == nullptr) {
      table.add({point->size_bytes, allocator_label(*point), word_of(point->status)});
      continue;
    }
    const std::uint64_t bytes = point->count(Metric::kRequestedBytes).value_or(point->size_bytes);
    const auto fresh = first_operation_ns(*point);
    const auto reused = operation_ns(*point);
    table.add({point->size_bytes, allocator_label(*point), cell(fresh),
               cell(rate(fresh, bytes, written_first(*point, bytes))), cell(first_operation_faults(*point)),
               cell(reused), cell(rate(reused, bytes, written_later(*point))), cell(operation_faults(*point))});
  }
  return markdown ? table.markdown(true) : table.text();
}

std::string knob_table(const ReportData& data, bool markdown) {
  if (data.knobs.empty()) return "";
  Table table({{"setting"},
               {"redundant bytes", Unit::kCount},
               {"page faults", Unit::kCount},
               {"time", Unit::kNs},
               {"finding"}});
  std::vector<KnobTrial> rows{{{}, data.without}};
  rows.insert(rows.end(), data.knobs.begin(), data.knobs.end());
  for (const auto& [knob, measured] : rows) {
    const KnobEffect effect = measured.value_or({});
    table.add({knob.env.empty() ? "(none)" : fmt::format("{}", fmt::join(setting_words(knob.env), " ")),
               effect.redundant_zeroed_bytes, effect.operation_faults, effect.operation_ns,
               measured || knob.env.empty() ? verdict_of(effect, data.size_bytes) : measured.why()});
  }
  return markdown ? table.markdown() : table.text();
}

std::string threshold_list(const ReportData& data) {
  std::string text;
  for (const MeasuredThreshold& each : data.thresholds) {
    text += each.exact ? fmt::format("- {} bytes", format_count(each.at_bytes))
                       : fmt::format("- somewhere from {} to {} bytes", format_count(each.after_bytes + 1),
                                     format_count(each.at_bytes));
    std::vector<std::string> changes;
    for (const BehaviourChange& change : each.changes) changes.push_back(change.words);
    text += fmt::format("{}{}\n", changes.empty() ? "" : ": ", fmt::join(changes, "; "));
  }
  return text.empty() ? "No change was found: all probed sizes behave alike.\n" : text;
}

namespace {

/// The format of tables and code in a form.
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
  /// Formats a paragraph. Wraps the paragraph if the form is plain text.
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
                               : tried == 0               ? "No setting could be tried"
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
