#include "point/metrics.h"

#include <algorithm>
#include <sstream>

#include "base/names.h"

namespace zerotax {
namespace {

// The words that metrics.inc uses.
using enum MetricKind;
using enum MetricGroup;
using enum MetricPass;

std::vector<const MetricRow*> rows_by_rank(MetricElsewhere MetricRow::*place) {
  std::vector<const MetricRow*> rows;
  for (const MetricRow& row : metric_rows()) {
    if ((row.*place).rank > 0) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [place](const MetricRow* one, const MetricRow* other) {
    return (one->*place).rank < (other->*place).rank;
  });
  return rows;
}

std::vector<const MetricRow*> rows_of_mode(MetricPass pass) {
  std::vector<const MetricRow*> rows = rows_by_rank(&MetricRow::in_mode);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [pass](const MetricRow* row) { return row->pass != pass; }),
             rows.end());
  return rows;
}

}  // namespace

const std::array<MetricRow, kMetrics>& metric_rows() {
#define FROM(member) [](const OpSample& op) -> std::int64_t { return op.member; }
#define ZEROTAX_METRIC(name, ...) MetricRow{.metric = Metric::name, __VA_ARGS__},
  static const std::array<MetricRow, kMetrics> rows{
#include "point/metrics.inc"
  };
#undef ZEROTAX_METRIC
#undef FROM
  return rows;
}

const MetricRow& row_of(Metric metric) { return metric_rows()[static_cast<std::size_t>(metric)]; }

const std::vector<const MetricRow*>& first_op_rows() {
  static const std::vector<const MetricRow*> rows = rows_by_rank(&MetricRow::in_first_op);
  return rows;
}

const std::vector<const MetricRow*>& mode_rows(MetricPass pass) {
  static const std::vector<const MetricRow*> audit = rows_of_mode(MetricPass::kAudit);
  static const std::vector<const MetricRow*> timing = rows_of_mode(MetricPass::kTiming);
  return pass == MetricPass::kAudit ? audit : timing;
}

std::initializer_list<const char*> keys_of(MetricGroup group) {
  static constexpr std::initializer_list<const char*> kNone{};
  static constexpr std::initializer_list<const char*> kTransfer{"transfer"};
  static constexpr std::initializer_list<const char*> kFork{"fork"};
  static constexpr std::initializer_list<const char*> kChild{"fork", "child"};
  static constexpr std::initializer_list<const char*> kParent{"fork", "parent"};
  static constexpr std::initializer_list<const char*> kHeld{"held"};
  switch (group) {
    case MetricGroup::kPoint:
      return kNone;
    case MetricGroup::kTransfer:
      return kTransfer;
    case MetricGroup::kFork:
      return kFork;
    case MetricGroup::kForkChild:
      return kChild;
    case MetricGroup::kForkParent:
      return kParent;
    case MetricGroup::kHeld:
      break;
  }
  return kHeld;
}

std::string dotted_key(const MetricRow& row) {
  std::string path;
  for (const char* key : keys_of(row.group)) path += key + std::string(".");
  return path + row.key;
}

std::vector<std::string> csv_columns(const MetricRow& row) {
  const std::string column = row.csv;
  if (column.empty()) return {};
  if (row.kind != MetricKind::kTimeSpread) return {column};
  std::vector<std::string> columns;
  columns.reserve(kSpreadParts.size());
  for (const char* part : kSpreadParts) columns.push_back(column + "_" + part);
  return columns;
}

std::vector<std::string> words_of(const MetricRow& row) {
  std::vector<std::string> words;
  std::istringstream all(row.words);
  for (std::string word; std::getline(all, word, '|');) words.push_back(word);
  return words;
}

const char* pass_name(MetricPass pass) {
  switch (pass) {
    case MetricPass::kAudit:
      return "audit";
    case MetricPass::kTiming:
      return "timing";
    case MetricPass::kZeroing:
      return "zeroing";
    case MetricPass::kFaults:
      return "faults";
    case MetricPass::kHolding:
      return "held";
    case MetricPass::kHoldingWithout:
      break;
  }
  return "held without huge pages";
}

std::optional<Metric> metric_of_key(std::string_view key) {
  for (const MetricRow& row : metric_rows()) {
    if (dotted_key(row) == key) return row.metric;
  }
  return std::nullopt;
}

std::optional<Metric> metric_named(const std::string& word) {
  const std::string key = key_of_name(word);
  if (const auto found = metric_of_key(key)) return found;
  for (const MetricRow& row : metric_rows()) {
    if (key == key_of_name(row.name)) return row.metric;
  }
  return std::nullopt;
}

}  // namespace zerotax
