#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "fork/model.h"
#include "fork/study.h"

namespace zerotax::fork {

// The fields below are the keys of results/schema/fork.schema.json, which describes them. Fields that earlier
// versions did not write are optional or Measured.

struct PagesOrder {
  std::uint64_t pages = 0;
  std::uint64_t allocations = 0;
  std::uint64_t zeroed = 0;
};

struct PagesTaken {
  std::uint64_t forks = 0;
  std::uint64_t lost = 0;
  double pages = 0;
  double zeroed_pages = 0;
  double contiguous = 0;
  Measured<std::int64_t> parent_table_bytes;
  std::vector<PagesOrder> orders;
};

struct Spread {
  double mean_ns = 0;
  double variance_ns2 = 0;
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
};

struct Phase : Spread {
  std::string name;
  std::string begins;
  std::string ends;
  std::string does;
  double share = 0;
};

struct Phases {
  std::uint64_t forks = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t lost = 0;
  Spread whole;
  std::vector<Phase> phases;
};

/// Samples of a part of a fork; the interval and the text are the verdict's.
struct Part {
  std::uint64_t samples = 0;
  double ns = 0;
  double share = 0;
  double share_error = 0;
  std::optional<double> low_ns;
  std::optional<double> high_ns;
  std::optional<std::string> text;
};

struct SectionTime : Part {
  std::string name;
  std::string casper;
  bool of_memory = false;
};

struct Observer {
  double unsampled_mean_ns = 0;
  double unsampled_median_ns = 0;
  double median_ratio = 0;
};

struct Samples {
  bool shares_memory = false;
  std::uint64_t forks = 0;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::uint64_t period_ns = 0;
  double mean_ns = 0;
  double median_ns = 0;
  double entry_ns = 0;
  double sections_ns = 0;
  double sum_over_mean = 0;
  Observer observer;
  std::vector<SectionTime> sections;
  std::optional<Part> clearing;
};

struct CloneFlags {
  std::string flags;
  double ns = 0;
  double share_saved = 0;
};

struct MemoryShare {
  double sampled = 0;
  double ablated = 0;
  double apart = 0;
};

struct Process {
  std::string name;
  std::optional<unsigned> visits;
  std::optional<std::vector<ForkEstimate>> estimates;
  ForkTargetFacts facts;
  Measured<PagesTaken> kernel_pages;
  Measured<Phases> phases;
  Measured<std::vector<CloneFlags>> ablation;
  Measured<std::vector<Samples>> samples;
  Measured<MemoryShare> memory_share;
  OrNull<std::string> contradiction;  ///< the verdict's

  /// Of plain forks; null if there are none.
  [[nodiscard]] const Samples* plain_samples() const {
    return samples && !samples->empty() ? &samples->front() : nullptr;
  }
};

struct CasperSection {
  std::string section;
  double ms = 0;
  int percent = 0;
};

struct Ways {
  std::uint64_t populated_bytes = 0;
  std::vector<ForkWay> ways;
};

struct Term {
  std::string key;
  std::string name;
  Measured<double> ns;
  Measured<double> low_ns;
  Measured<double> high_ns;
};

struct Prediction {
  std::string sweep;
  std::uint64_t populated_bytes = 0;
  std::string kind;
  ForkTargetFacts facts;
  std::vector<double> rounds_ns;
  Measured<PagesTaken> kernel_pages;
  double measured_ns = 0;
  double predicted_ns = 0;
  double error = 0;
  std::optional<bool> plain;  ///< the verdict's
};

/// The model's time of a fork by populated bytes.
struct Line {
  std::string kind;
  double empty_ns = 0;
  double ns_per_byte = 0;
  bool operator==(const Line&) const = default;
};

struct Model {
  std::vector<Term> terms;
  double r_squared = 0;
  double worst_fit_error = 0;
  double worst_held_back_error = 0;
  std::vector<Prediction> fit;
  std::vector<Prediction> held_back;
  std::optional<std::vector<Line>> lines;  ///< the verdict's
};

struct SharedTables {
  std::uint64_t populated_bytes = 0;
  double fork_ns = 0;
  double shared_ns = 0;
  double saved = 0;
  double first_write_ns = 0;
};

/// Without the version and the command of its head: the first documents had none.
struct Fork : DocumentHead {
  bool complete = false;
  std::optional<bool> full;  ///< not in a document of an earlier version, which was
  unsigned rounds = 0;
  std::uint64_t most_bytes = 0;
  OrNull<std::string> left_out;
  std::vector<CasperSection> casper;
  std::vector<Process> processes;
  Ways ways;
  Measured<Model> model;
  Measured<std::vector<SharedTables>> shared_page_tables;
  Measured<std::string> sentence;                 ///< the verdict's
  std::optional<std::vector<std::string>> notes;  ///< the verdict's
};

/// All but the verdict.
Fork fork_result(const ForkData& data, Json environment, const std::string& started);

/// Adds what is said of it, or replaces it: `sentence`, `notes` on what the figure lacks, of each place of the sweep
/// `plain`, of the model its `lines`, and the intervals of sections. Needs nothing but what every version has written.
void add_verdict(Fork& fork);

/// The summary for the terminal: Table I of this machine beside the paper's, the model, the ways, what sharing page
/// tables would save. At most 80 columns.
std::string fork_text(const Fork& fork);

/// The document "zerotax.fork/1" (results/schema/fork.schema.json).
Json fork_json(const Fork& fork);

/// From such a document, which keeps to its schema, of this version or an earlier one.
Fork read_fork(const Json& json);

}  // namespace zerotax::fork
