#include "metrics_page.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string_view>

#include "point/metrics.h"

namespace zerotax {
namespace {

constexpr const char* kHead = R"(# Metrics

You found a key in a results folder or in the output of `zerotax run --json`, and want to know what it counts. The
[schema](point.schema.json) of a point contains the same keys.

```sh
zerotax run --allocator glibc --size 20MiB --json point.json
```

## Limits

- A metric that could not be measured is `{"na": "why"}` in JSON and an empty field in CSV, never 0.
- Values are per operation, in the steady state. [method.md](../../docs/method.md) says how each is measured, and what goes unseen.

## How to read the tables

- **CSV column**: *same* is the last part of the JSON key. `…` stands for `median`, `p05` and `p95`, the three columns of a time.
- **pass**: the kind of process that measured it.
- **also in**: lists of the point that also contain the metric. `first_ops` has an entry for each of the first operations, and `modes` for
  each kind of call if calls differ.

)";

constexpr const char* kParent = R"(
`fork.parent` contains the keys of `fork.child`, for the parent's writes. Their columns start with `parent_` instead of `child_`.
)";

constexpr const char* kEnd = R"(
Next: [method.md](../../docs/method.md) explains the measurements, and [findings.md](../../docs/findings.md) the rules that judge them.
)";

constexpr const char* kColumns =
    "| JSON key | CSV column | unit | pass | also in | meaning |\n|---|---|---|---|---|---|\n";

/// Phrases to remove from descriptions, because the head of the page, or its columns for unit and pass, already say the
/// same.
constexpr std::array<std::string_view, 6> kSaidElsewhere{", in nanoseconds",     ", in bytes",
                                                         ", per operation",      ", in the steady state",
                                                         ", in the timing pass", ", in the faults pass"};

struct Section {
  const char* heading;
  std::initializer_list<MetricGroup> groups;
};

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string column_of(const MetricRow& row) {
  const bool spread = row.kind == MetricKind::kTimeSpread && row.csv[0] != '\0';
  if (spread) return fmt::format("`{}_…`", row.csv);
  return std::string_view{row.csv} == row.key ? "same" : code(row.csv);
}

std::string lists_of(const MetricRow& row) {
  const char* first_ops = row.in_first_op.rank > 0 ? "first_ops" : "";
  const char* modes = row.in_mode.rank > 0 ? "modes" : "";
  return fmt::format("{}{}{}", first_ops, *first_ops != '\0' && *modes != '\0' ? ", " : "", modes);
}

std::string description_of(const MetricRow& row) {
  std::string text = row.description;
  for (const std::string_view part : kSaidElsewhere) {
    const std::size_t at = text.find(part);
    if (at != std::string::npos) text.erase(at, part.size());
  }
  return text;
}

std::string meaning_of(const MetricRow& row) {
  std::string words;
  for (const std::string& word : words_of(row)) words += (words.empty() ? "" : ", ") + code(word);
  return words.empty() ? description_of(row) : fmt::format("{} One of {}.", description_of(row), words);
}

std::string line_of(const MetricRow& row) {
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(dotted_key(row)), column_of(row), row.unit,
                     pass_name(row.pass), lists_of(row), meaning_of(row));
}

}  // namespace

std::string metrics_page() {
  const std::initializer_list<Section> sections{
      {"Calloc, touching and free", {MetricGroup::kPoint}},
      {"Receiving", {MetricGroup::kTransfer}},
      {"Fork", {MetricGroup::kFork, MetricGroup::kForkChild}},
      {"Memory held (`--thp`)", {MetricGroup::kHeld}},
  };
  std::string page = kHead;
  for (const Section& section : sections) {
    page += fmt::format("{}## {}\n\n{}", &section == sections.begin() ? "" : "\n", section.heading, kColumns);
    for (const MetricRow& row : metric_rows()) {
      for (const MetricGroup group : section.groups) page += row.group == group ? line_of(row) : "";
    }
  }
  return page + kParent + kEnd;
}

}  // namespace zerotax
