#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"

namespace zerotax::exchange {

// The verdicts of a room, in a form for other programs. Each room fills an OutcomeList from its own verdict. The
// writers of this layer only print the list.

/// The result for one thing that was judged.
enum class OutcomeKind : std::uint8_t {
  kSame,     ///< the result is as it should be
  kBetter,   ///< better than before
  kWorse,    ///< worse than before, or than necessary
  kChanged,  ///< different from before, neither better nor worse
  kFailed,   ///< crashed, hung, or broke a promise
  kSkipped,  ///< not judged; the headline says why
};
ENUM_WORDS(OutcomeKind, "same", "better", "worse", "changed", "failed", "skipped")

/// One metric of a benchmark, by its key in documents ("zeroed_bytes"). The bounds are the range of the observed
/// values.
struct Measure {
  std::string key;
  double value = 0;
  std::optional<double> lower = {};
  std::optional<double> upper = {};
};

/// Metrics that a service tracks from commit to commit under one name. Metrics that are n/a are omitted.
struct Benchmark {
  std::string name;
  std::vector<Measure> measures;
};

/// One thing that was judged. Texts may contain any bytes, for example the bytes of file names. Each writer escapes the
/// texts.
struct Outcome {
  std::string suite;       ///< the group of the outcome, such as an allocator
  std::string name;        ///< unique in its suite, and stable between versions
  std::string test = {};   ///< the test that services track from run to run; if empty, the name
  std::string label = {};  ///< the displayed name if it differs from `name`: "1 MiB touch 0"
  OutcomeKind kind = OutcomeKind::kSame;
  bool fails = false;                   ///< whether this outcome makes the command exit with 1
  std::string verdict;                  ///< the room's own word: "SLOWER", "high", "worse"
  std::string headline;                 ///< one line
  std::string details = {};             ///< lines of plain text, or empty
  std::string file = {};                ///< file of the repository for an annotation, or empty
  std::vector<std::string> cells = {};  ///< one cell for each of OutcomeList::columns
};

/// Everything that one command has judged.
struct OutcomeList {
  std::string command;                    ///< "zerotax compare"
  std::string subject;                    ///< what was judged, on one line
  OutcomeKind kind = OutcomeKind::kSame;  ///< overall result
  std::string verdict = {};               ///< the room's own word for the overall result if it differs from `kind`:
                                          ///< "mixed"
  std::string sentence;                   ///< the verdict, exactly as printed on the terminal
  std::string thing = "what";             ///< the kind of thing that an outcome describes: "point"
  std::vector<std::string> columns = {};  ///< table columns in addition to name, verdict and headline
  bool passed_in_table = false;           ///< whether outcomes of kSame also get table rows
  std::vector<Outcome> outcomes = {};
  std::vector<std::string> notes = {};  ///< additional facts for the reader, one sentence each
  std::vector<Benchmark> benchmarks = {};
};

/// Returns the overall verdict, in a word.
std::string verdict_of(const OutcomeList& list);

/// Returns the displayed name.
const std::string& label_of(const Outcome& outcome);

/// Returns the name of the test that services track from run to run.
const std::string& test_of(const Outcome& outcome);

/// Returns the sentence without its leading verdict: "3 faults" for "worse: 3 faults".
std::string after_verdict(const std::string& sentence, const std::string& verdict);

/// Whether any outcome makes the command exit with 1.
bool fails(const OutcomeList& list);

/// Returns UTF-8 text of at most `most` bytes. Longer text is cut between two characters and ends in …. `most` must be
/// at least 3.
std::string cut_text(std::string text, std::size_t most);

/// Returns the Bencher Metric Format (https://bencher.dev/docs/reference/bencher-metric-format): the name of a
/// benchmark, the slug of a measure, and {"value", "lower_value", "upper_value"}. Omits benchmarks without measures.
/// Merges benchmarks of the same name, keeping the measures of both.
Json bmf_json(const OutcomeList& list);

}  // namespace zerotax::exchange
