#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zerotax::exchange {

// What a room has judged, in the form that other programs want: each room fills it from its own verdict, and every
// writer of this layer shows it. Nothing here judges.

/// What became of one thing that was judged.
enum class OutcomeKind : std::uint8_t {
  kSame,     ///< as it should be
  kBetter,   ///< better than before
  kWorse,    ///< worse than before, or than it needs to be
  kChanged,  ///< other than before, neither better nor worse
  kFailed,   ///< it crashed, hung, or broke a promise
  kSkipped,  ///< nothing was judged; the headline says why
};
/// "same", "better", "worse", "changed", "failed", "skipped".
const char* word_of(OutcomeKind kind);

/// One metric of a benchmark, by its key in documents ("zeroed_bytes"). The bounds are the range in which the value was
/// seen.
struct Measure {
  std::string key;
  double value = 0;
  std::optional<double> lower = {};
  std::optional<double> upper = {};
};

/// Metrics that a service tracks from commit to commit under one name. A metric that is n/a is left out.
struct Benchmark {
  std::string name;
  std::vector<Measure> measures;
};

/// One thing that was judged. Texts may hold any bytes: file names are among them. Each writer makes them harmless.
struct Outcome {
  std::string suite;       ///< what it belongs to: an allocator, say
  std::string name;        ///< unique in its suite, and the same in the next version
  std::string test = {};   ///< the test that services follow from run to run; empty: the name
  std::string label = {};  ///< for people, where that is another: "1 MiB touch 0"
  OutcomeKind kind = OutcomeKind::kSame;
  bool fails = false;                   ///< whether the command's exit status is 1 because of it
  std::string verdict;                  ///< the room's own word: "SLOWER", "high", "worse"
  std::string headline;                 ///< one line
  std::string details = {};             ///< lines of plain text; may be empty
  std::string file = {};                ///< of the repository, to which an annotation belongs; may be empty
  std::vector<std::string> cells = {};  ///< one for each of OutcomeList::columns
};

/// All that one command has judged.
struct OutcomeList {
  std::string command;                    ///< "zerotax compare"
  std::string subject;                    ///< what was judged, a line
  OutcomeKind kind = OutcomeKind::kSame;  ///< of all together
  std::string verdict = {};               ///< the room's own word for that, where it is another: "mixed"
  std::string sentence;                   ///< the verdict, word for word as the terminal has it
  std::string thing = "what";             ///< what an outcome is about: "point"
  std::vector<std::string> columns = {};  ///< of a table, besides name, verdict and headline
  bool passed_in_table = false;           ///< whether what is as it should be has rows of a table, too
  std::vector<Outcome> outcomes = {};
  std::vector<std::string> notes = {};  ///< what one must know besides, a sentence each
  std::vector<Benchmark> benchmarks = {};
};

/// The verdict of all together, in a word.
std::string verdict_of(const OutcomeList& list);

/// What people call it.
const std::string& label_of(const Outcome& outcome);

/// The name of the test that services follow from run to run.
const std::string& test_of(const Outcome& outcome);

/// The sentence without its verdict at the beginning: "3 faults" of "worse: 3 faults".
std::string after_verdict(const std::string& sentence, const std::string& verdict);

/// Whether any outcome makes the command exit with 1.
bool fails(const OutcomeList& list);

/// UTF-8 text of at most `most` bytes, cut between two characters, with … at the end of a cut text. `most` is at least
/// 3.
std::string cut_text(std::string text, std::size_t most);

}  // namespace zerotax::exchange
