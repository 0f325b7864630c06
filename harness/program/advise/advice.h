#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/recording.h"
#include "advise/remedy.h"
#include "advise/search.h"
#include "advise/target.h"
#include "point/plan.h"
#include "record/remedies.h"

namespace zerotax::advise {

struct Catalogue {
  std::vector<Remedy> remedies;
  std::vector<NotTried> not_tried;
};

/// The situation that remedies are chosen for.
struct Situation {
  record::PresentAllocator allocator;             ///< the program's own; without a name: unknown
  const Recording* recording = nullptr;           ///< nullptr, or n/a: nothing is known
  bool all = false;                               ///< remedies of all causes
  bool huge_pages = true;                         ///< a program may have huge pages
  std::vector<record::InsideAllocator> inside{};  ///< allocators that the program brings besides
};

/// All remedies: of the program's own allocator its settings, each other allocator, and what these can be combined to.
/// They are the lists `remedies` of allocators/<name>/upstream.json, and `settings` of the command line.
Catalogue make_catalogue(const Situation& situation, const std::vector<Allocator>& others,
                         const std::vector<Remedy>& settings);

/// Allocators that can be preloaded.
struct Others {
  std::vector<Allocator> allocators;
  std::vector<NotTried> missing;  ///< those that this build lacks
};

/// Those of the words of --allocator, or all that are built in. Throws UsageError.
Others allocators_to_try(const std::vector<std::string>& words);

/// Takes out the one that the program runs under in any case.
void leave_out(Others& others, const std::string& present);

/// A remedy from a word of --env, NAME:KEY=VALUE. Throws UsageError.
Remedy setting_of(const std::string& word, const std::vector<Allocator>& others, const std::string& present);

/// What was asked for, checked as far as it can be without running anything.
struct Request {
  Target target;
  SearchMethod method;
  std::vector<std::string> allocators;  ///< words of --allocator
  std::vector<std::string> env;         ///< words of --env
  bool settings_only = false;           ///< no other allocator is tried
  bool all = false;                     ///< try everything, whatever the recording says
};

/// Everything about one advice.
struct Advice {
  Request request;
  std::string started;
  Json environment;
  record::PresentAllocator allocator;           ///< the program's own; without a name: unknown
  std::vector<record::InsideAllocator> inside;  ///< allocators that it brings besides
  Recording recording{NotAvailable{"it was not recorded"}};
  bool nothing_to_gain = false;  ///< so that nothing was tried
  Catalogue catalogue;
  SearchResult result;
  std::optional<Recording> after;    ///< under the winner
  std::optional<double> startup_ms;  ///< that the winner adds to the start of a program
  bool complete = false;
};

/// Runs the program as often as it takes. Throws UsageError if it cannot be compared with itself.
Advice advise(const Request& request);

SelfTest self_test(const Request& request, std::size_t advices);

/// What the search has to know of the remedies, in their order.
std::vector<Candidate> candidates_of(const std::vector<Remedy>& remedies);

/// Milliseconds that these variables add to the start and end of a program that does nothing (true(1)): the fastest of
/// 20 runs with them, less the fastest of 20 without. Nothing if there is no such program, or it was stopped.
std::optional<double> startup_cost_ms(const TargetRunner::Variables& variables);

/// What came of one remedy: "FASTER", "SLOWER" ("LESS", "MORE" where the goal is no time), "SAME", "AMBIGUOUS",
/// "FAILED", "CHANGED OUTPUT"; empty if it was not tried.
std::string remedy_verdict(const Advice& advice, std::size_t remedy);

/// The ratio of a figure under a remedy to that in the present state.
Measured<Ratio> remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal);

/// The confirmation of a remedy, or nullptr.
const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy);

/// The verdict on one goal of a finished confirmation.
inline const TimeVerdict& verdict_of(const Confirmation& confirmation, Goal goal) {
  return confirmation.verdicts[static_cast<std::size_t>(goal)];
}

Recommendation recommendation(const Advice& advice);

}  // namespace zerotax::advise
