#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "files/results.h"
#include "judge/projects.h"
#include "judge/tax.h"

namespace zerotax::findings {

/// The sizes of the table and the first figure, in bytes.
inline constexpr std::uint64_t kHeadlineSizes[] = {100 << 20, 1000 << 20};

enum class SummaryPart { kWarning, kHeadline, kBroken, kLead, kForWhom, kEach, kCoverage };

/// What of the page shows the points of a sentence: a section of it, or a figure and what it is set to.
struct PageLink {
  const char* figure;
  std::string case_name = {};
  double touch = 0;
  std::string thread = {};
  std::optional<std::uint64_t> size_bytes = {};
  const char* column = "";  ///< of the figure, but for its first
};
inline constexpr const char* kFailures = "failures";  ///< the section, as PageLink::figure

/// A sentence of the summary; code stands between backticks.
struct SummarySentence {
  SummaryPart part;
  std::string subject;
  std::string text;
  std::optional<PageLink> link = {};
  std::optional<std::string> command = {};    ///< what measures that which is missing
  std::optional<std::size_t> allocator = {};  ///< whom it is about, by its place in Verdicts::allocators
};

/// The run in the summary; by default, nothing is known of it.
struct SummaryRun {
  Measured<std::string> started = NotAvailable{"the points were given without their run"};
  Measured<std::string> state = started;
  OrNull<std::string> unfinished = std::nullopt;  ///< that it is not complete, and how far it got
  std::uint64_t points = 0;
  std::uint64_t points_without_result = 0;
  std::optional<Load> load = {};  ///< how busy others kept the machine
  std::optional<std::string> times_left_out = {};
  std::optional<ComparableTimes> comparable_times = {};  ///< of a fleet (fleet::leave_out_times), not in the summary
  std::optional<std::string> huge_pages = {};            ///< what they change, if it was measured: a sentence
};

/// Every verdict on a run, and every sentence. The terminal, the figures and the page show it and judge nothing.
struct Summary {
  SummaryRun run;
  Verdicts verdicts;
  /// What avoids the needless zeroing of each allocator's later calls; nothing if there is none to avoid, or nobody
  /// knows whether there is.
  std::vector<OrNull<KnownRemedies>> avoid;
  std::vector<std::size_t> ranking;  ///< of allocators: who zeroes needlessly first, and of these the slowest first
  std::vector<SummarySentence> sentences;
};

Summary summary_of(const std::vector<Point>& points, SummaryRun run = {});

/// For a reader who is new to the subject: Markdown that also reads well in a terminal of 80 columns. Which allocators
/// zero redundantly, at which sizes, and at what cost.
std::string summary_text(const Summary& summary);

/// The sentences, in their order. `run`: of the summary.
std::vector<SummarySentence> summary_sentences(const Verdicts& verdicts, const SummaryRun& run);

/// That a run was measured under load, as a paragraph of the terminal; "" if it was not, or nobody looked.
std::string load_text(const std::optional<Load>& load);

/// Writes summary.json into a results folder, beside run.json.
Summary write_summary(const ResultsFolder& folder, const std::vector<Point>& points);

/// What the object of run.json says, or null.
SummaryRun read_summary_run(const Json& run);

/// The object of "zerotax.summary/1" (results/schema/summary.schema.json).
Json summary_json(const Summary& summary);

/// That a run was measured under load, and what that means; "" if it was not, or nobody looked.
std::string load_sentence(const std::optional<Load>& load);

}  // namespace zerotax::findings
