#include "core/metrics_page.h"

#include <fmt/format.h>

#include "core/metrics.h"

namespace zerotax {
namespace {

constexpr const char* kHead = R"(# Metrics

What a point measures. Each has a key in `points.jsonl` and in the `points` of `zerotax run --json`, and most have a column in
`points.csv`. A metric that could not be measured is `{"na": "why"}` in JSON and an empty field in CSV. Values are of one operation in
the steady state; [method.md](method.md) says how each is measured.

This page is written from the table in the source, as is the [schema](../results/schema/point.schema.json). A time in nanoseconds has
three columns: `_median`, `_p05` and `_p95`. "Also in" names the lists of a point that have the metric too: `first_ops`, for each of the
first operations, and `modes`, for each kind of call where calls are not alike.

)";

constexpr const char* kColumns =
    "| metric | unit | JSON key | CSV column | pass | also in | meaning |\n|---|---|---|---|---|---|---|\n";

struct Section {
  const char* heading;
  std::initializer_list<MetricGroup> groups;
};

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string column_of(const MetricRow& row) {
  const bool spread = row.kind == MetricKind::kTimeSpread && row.csv[0] != '\0';
  return spread ? fmt::format("`{}_…`", row.csv) : code(row.csv);
}

std::string lists_of(const MetricRow& row) {
  const char* first_ops = row.in_first_op.rank > 0 ? "first_ops" : "";
  const char* modes = row.in_mode.rank > 0 ? "modes" : "";
  return fmt::format("{}{}{}", first_ops, *first_ops != '\0' && *modes != '\0' ? ", " : "", modes);
}

std::string meaning_of(const MetricRow& row) {
  std::string words;
  for (const std::string& word : words_of(row)) words += (words.empty() ? "" : ", ") + code(word);
  return words.empty() ? row.description : fmt::format("{} One of {}.", row.description, words);
}

std::string line_of(const MetricRow& row) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.name, row.unit, code(dotted_key(row)),
                     column_of(row), pass_name(row.pass), lists_of(row), meaning_of(row));
}

}  // namespace

std::string metrics_page() {
  const std::initializer_list<Section> sections{
      {"Calloc, touching and free", {MetricGroup::kPoint}},
      {"Receiving: cases that receive", {MetricGroup::kTransfer}},
      {"Fork: cases that fork", {MetricGroup::kFork, MetricGroup::kForkChild, MetricGroup::kForkParent}},
  };
  std::string page = kHead;
  for (const Section& section : sections) {
    page += fmt::format("{}## {}\n\n{}", &section == sections.begin() ? "" : "\n", section.heading, kColumns);
    for (const MetricRow& row : metric_rows()) {
      for (const MetricGroup group : section.groups) page += row.group == group ? line_of(row) : "";
    }
  }
  return page;
}

}  // namespace zerotax
