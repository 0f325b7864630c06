#pragma once

#include <string>
#include <vector>

#include "advise/remedy.h"
#include "advise/search.h"
#include "base/json.h"

namespace zerotax::advise {

struct Advice;

// The fields below are the keys of results/schema/advise.schema.json, which describes them.

struct RecordedCause {
  record::Cause cause{};
  record::Count cpu_ns;
  Measured<double> share_of_cpu;
};

struct RecordedZeroing {
  std::string allocator_file;
  Measured<double> share_of_cpu;
  std::vector<RecordedCause> causes;
  record::Count kernel_zeroed_bytes;
  record::Count zeroed_bytes;
  record::Count by_hand_zeroed_bytes;
  record::Count refilled_bytes;
  record::Count kept_bytes;
  std::string by_hand_at;  ///< "parse.c:120 (parse(char*))"; empty if nowhere
};

struct Program {
  std::vector<std::string> words;
  std::string input;
  std::string ready;
  std::string load;
};

struct Alternative {
  std::string remedy;
  std::string line;
  std::string sentence;
};

enum class AdviceKind { kRemedy, kNothingToGain, kNothingHelps, kUnknown };

/// What to do, in sentences (verdict.cc). All that is shown of it is written there.
struct Recommendation {
  AdviceKind kind{};
  std::string sentence;
  std::optional<std::string> why;  ///< why not a remedy that took less, if there is one
  OrNull<std::string> remedy;
  OrNull<std::string> line;
  std::string gains;
  std::string costs;
  std::string recorded;
  OrNull<Alternative> faster_still;
  OrNull<Alternative> without_preload;
};

struct Method : SearchMethod {
  double timeout_s = 0;
  bool output_compared = false;
  double noise = 0;
};

struct Present {
  Measured<std::string> allocator;
  Measured<std::string> version;
  Measured<Figures> figures;
};

/// To the present state: of a confirmation with its interval, of the screening a median alone.
struct Ratio {
  double median = 0;
  std::optional<double> low;
  std::optional<double> high;
};

struct Ratios {
  Measured<Ratio> cpu;
  Measured<Ratio> wall;
  Measured<Ratio> faults;
  Measured<Ratio> memory;
};
/// In the order of kGoals.
inline constexpr Measured<Ratio> Ratios::*kRatios[] = {&Ratios::cpu, &Ratios::wall, &Ratios::faults, &Ratios::memory};

struct TriedRemedy : Remedy {
  std::string line;
  std::string verdict;
  std::string reason;
  bool heavy = false;
  bool confirmed = false;
  std::size_t runs = 0;
  Ratios ratios;
};

/// A remedy that is not tried.
struct NotTried {
  std::string name;
  std::string why;
};

struct Pair {
  Figures present;
  Figures remedy;
};

struct ConfirmedRemedy {
  std::string remedy;
  unsigned planned_pairs = 0;
  std::vector<Pair> pairs;
  double alpha = 0;
  bool confirmed = false;
  std::string why_not;
  Measured<double> p;
};

struct RunOfRemedy {
  OrNull<std::string> remedy;  ///< none: the program as it is
  Phase phase{};
  unsigned round = 0;
  Trial::End end{};
  Figures figures;
};

/// The object "zerotax.advise/1".
struct AdviceResult : DocumentHead {
  bool complete = false;
  Program program;
  Recommendation recommendation;
  Method method;
  Present present;
  Measured<RecordedZeroing> recording;
  OrNull<Measured<RecordedZeroing>> recording_after;
  OrNull<double> startup_ms;
  std::vector<TriedRemedy> remedies;
  std::vector<NotTried> not_tried;
  std::vector<ConfirmedRemedy> confirmations;
  std::vector<RunOfRemedy> runs;
};

/// How many of `advices` searches recommend a remedy, although every remedy is the present state: the object
/// "zerotax.advise_self_test/1" (results/schema/advise_self_test.schema.json).
struct SelfTest : DocumentHead {
  Goal goal{};
  std::size_t advices = 0;
  std::size_t recommended = 0;
  std::vector<Figures> runs;  ///< of all of them, in their order
};

AdviceResult advice_result(const Advice& advice);

/// At most 80 columns, but for the line to paste.
std::string advise_text(const AdviceResult& advice);
/// Headings, paragraphs and a table that GitHub shows.
std::string advise_markdown(const AdviceResult& advice);

/// What to do next: the line to paste that runs the program with the remedy. Empty if nothing helps.
std::string next_step(const AdviceResult& advice);

}  // namespace zerotax::advise
