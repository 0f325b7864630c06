#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/answer.h"
#include "base/fields.h"
#include "files/results.h"
#include "judge/projects.h"
#include "judge/tax.h"

namespace zerotax::findings {

/// Sizes in the table and in the first figure, in bytes.
inline constexpr std::uint64_t kHeadlineSizes[] = {100 << 20, 1000 << 20};

enum class SummaryPart { kWarning, kHeadline, kBroken, kLead, kForWhom, kEach, kCoverage };
ENUM_WORDS(SummaryPart, "warning", "headline", "broken", "lead", "for_whom", "each", "coverage")

struct PageLink {
  RESULT("link", "The part of the page with the points of a sentence: a figure and its view, or a section.");
  FIELD(std::string, figure, "A figure of the page.", one_of("time|faults|bytes|heat|receiving"), kAbsentIfEmpty);
  MEMBER_AS("case", case_name, "Name of the case, as in the point.", kAbsentIfEmpty);
  std::string case_name = {};
  FIELD(std::optional<double>, touch, "Fraction of the pages that the program writes.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", one_of("main|worker"), kAbsentIfEmpty);
  FIELD(std::optional<std::uint64_t>, size_bytes, "Bytes requested from calloc.", least(1));
  MEMBER(columns, "Column that the figure shows, by its name in the page's URL; absent for the figure's first column.",
         kAbsentIfEmpty);
  std::map<std::string, std::string> columns = {};
  FIELD(std::string, section, "Section of the page, if no figure shows the points.", kAbsentIfEmpty);
};

struct SummarySentence {
  RESULT("sentence", "A sentence of the summary.");
  FIELD(SummaryPart, part, "Part of the summary that has the sentence, in the order of the summary.");
  FIELD(std::string, subject, "Allocator, question or reader that the sentence is for.");
  FIELD(std::string, text, "Text of the sentence, with code between backticks.");
  FIELD(std::optional<PageLink>, link, "Part of the page that shows the points.");
  FIELD(std::optional<std::string>, command, "Command that would measure the missing points.");
  FIELD(std::optional<std::size_t>, allocator, "Id of the allocator that the sentence is about.");
};

/// The run of a summary; by default, nothing is known about the run.
struct SummaryRun {
  RESULT("run", "The run that measured the points.");
  MEMBER(started, "Start time of the run, in UTC.", kMayBeEmpty);
  Measured<std::string> started = NotAvailable{"the points were given without their run"};
  MEMBER(state, "The state in which the run ended.", one_of("running|complete|interrupted"));
  Measured<std::string> state = started;
  FIELD(OrNull<std::string>, unfinished,
        "Number of points so far, in one sentence; null if the run is complete or unknown.", kLater);
  FIELD(std::uint64_t, points, "Number of points.");
  FIELD(std::uint64_t, points_without_result, "Number of points whose status is not ok.");
  FIELD(std::optional<Load>, load, "The load that other programs put on the machine.");
  FIELD(std::optional<std::string>, times_left_out,
        "For a run on hosts that differ, a sentence that names the hosts whose times were left out; absent if no times "
        "were left out.");
  // Members that are not in the summary:
  std::optional<ComparableTimes> comparable_times = {};  ///< times to keep in a run on several hosts
                                                         ///< (fleet::leave_out_times)
  std::optional<std::string> huge_pages = {};            ///< sentence on the effect of huge pages, if the effect was
                                                         ///< measured
};

/// All verdicts and sentences on a run. The terminal, the figures and the page only show these verdicts.
struct Summary {
  SummaryRun run;
  Verdicts verdicts;
  /// Ways to avoid needless zeroing in later calls, for each allocator. Empty if no call zeroes needlessly, or if that
  /// is unknown.
  std::vector<OrNull<KnownRemedies>> avoid;
  std::vector<std::size_t> ranking;  ///< ids of allocators: first the allocators that zero needlessly; both groups
                                     ///< begin with the slowest
  std::vector<SummarySentence> sentences;
};

Summary summary_of(const std::vector<Point>& points, SummaryRun run = {});

/// Returns Markdown for a reader who is new to the subject. The text also reads well in a terminal of 80 columns. The
/// text says which allocators zero redundantly, at which sizes, and at what cost.
std::string summary_text(const Summary& summary);

/// Returns the sentences in their order. `run` is the run of the summary.
std::vector<SummarySentence> summary_sentences(const Verdicts& verdicts, const SummaryRun& run);

/// Returns a paragraph for the terminal if a run was measured under load; "" if there was no load, or if the load is
/// unknown.
std::string load_text(const std::optional<Load>& load);

/// Writes summary.json into a results folder, beside run.json.
Summary write_summary(const ResultsFolder& folder, const std::vector<Point>& points);

/// Reads the object of run.json, which may be null.
SummaryRun read_summary_run(const Json& run);

/// Returns the object of "zerotax.summary/1" (findings/summary_document.h).
Json summary_json(const Summary& summary);

/// Returns a sentence on the effect of load during a run; "" if there was no load, or if the load is unknown.
std::string load_sentence(const std::optional<Load>& load);

/// Returns the answer with a row for each allocator: the sizes at which it zeroes needlessly, and its worst call.
Answer summary_answer(const Summary& summary);

}  // namespace zerotax::findings
