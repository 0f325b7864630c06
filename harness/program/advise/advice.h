#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/fork_remedies.h"
#include "advise/frontier.h"
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

/// Properties of a program that decide which remedies are tried.
struct Situation {
  record::PresentAllocator allocator;             ///< the program's own allocator; its name is empty if unknown
  const Recording* recording = nullptr;           ///< nullptr or n/a if the program was not recorded
  bool all = false;                               ///< whether to try remedies for all causes, not only for those that
                                                  ///< the recording shows
  bool huge_pages = true;                         ///< whether programs may have transparent huge pages
  std::vector<record::InsideAllocator> inside{};  ///< further allocators inside the program
  bool shared = false;                            ///< whether to try only remedies that may keep memory shared
};

/// Makes all remedies: settings of the program's own allocator, other allocators, and combinations. Known remedies come
/// from the lists `remedies` in allocators/<name>/upstream.json, further settings from the command line (`settings`).
Catalogue make_catalogue(const Situation& situation, const std::vector<Allocator>& others,
                         const std::vector<Remedy>& settings);

/// A lever of an allocator in the program. The values of the axis are remedies of the catalogue.
struct ChosenLever {
  std::string name;  ///< "glibc: trim threshold"
  std::string more;
  Axis axis;
};

/// Adds all values of the levers of the program's allocators to the catalogue.
std::vector<ChosenLever> add_levers(const Situation& situation, Catalogue& catalogue);

/// Returns the bytes that a word of --max-memory allows beyond `peak` bytes: "+10%" is a share of the peak, "+64MiB"
/// are bytes. Throws UsageError.
double extra_bytes(const std::string& word, double peak);

/// Other allocators that can be preloaded.
struct Others {
  std::vector<Allocator> allocators;
  std::vector<NotTried> missing;  ///< allocators that this build lacks
};

/// Returns the allocators named by the words of --allocator; without words, all built-in allocators. Throws UsageError.
Others allocators_to_try(const std::vector<std::string>& words);

/// Removes the allocator that the unchanged program uses.
void leave_out(Others& others, const std::string& present);

/// Makes a remedy from a word of --env, NAME:KEY=VALUE. Throws UsageError.
Remedy setting_of(const std::string& word, const std::vector<Allocator>& others, const std::string& present);

/// The options of the command, checked as far as possible without running the program.
struct Request {
  Target target;
  SearchMethod method;
  std::vector<std::string> allocators;  ///< words of --allocator
  std::vector<std::string> env;         ///< words of --env
  bool settings_only = false;           ///< whether to leave out other allocators
  bool all = false;                     ///< whether to try all remedies, regardless of the recording
  bool frontier = false;                ///< whether to search the values of levers in place of the known remedies
  std::optional<Goal> wanted;           ///< goal of the command line, if given
  std::string max_memory;               ///< word of --max-memory; may be empty
};

/// All inputs and results of one search for a remedy.
struct Advice {
  Request request;
  std::string started;
  Json environment;
  record::PresentAllocator allocator;           ///< the program's own allocator; its name is empty if unknown
  std::vector<record::InsideAllocator> inside;  ///< further allocators inside the program
  Recording recording{NotAvailable{"the program was not recorded"}};
  bool nothing_to_gain = false;  ///< whether zeroing costs so little, or so little is copied, that the search tries no
                                 ///< remedy
  ForkRemedies at_forks;         ///< changes of the program before its forks
  Catalogue catalogue;
  SearchResult result;
  std::vector<ChosenLever> levers;         ///< levers that a search for the frontier tried
  std::optional<FrontierMethod> frontier;  ///< the method of that search
  FrontierResult found;                    ///< its result; `result` has the runs
  std::optional<Recording> after;          ///< recording of a run with the recommended remedy
  std::optional<double> startup_ms;        ///< milliseconds that the recommended remedy adds to the start of a program
  bool complete = false;
};

/// Runs the program as often as the search needs. Throws UsageError if runs of the unchanged program differ too much to
/// be compared.
Advice advise(const Request& request);

/// Whether the processes copy so little after forks that the goal shared has nothing to gain.
bool copies_little(const Copies& copies);
/// Returns the sentence about the goal shared if no remedy is recommended.
std::string shared_nothing_text(const Advice& advice);
/// Returns sentences about changes that may keep memory shared, but that zerotax cannot try.
std::vector<std::string> untried_changes(const Advice& advice);

/// Returns the remedies as candidates of the search, in the same order.
std::vector<Candidate> candidates_of(const std::vector<Remedy>& remedies);

/// Returns the milliseconds that these variables add to the start and end of a program that does nothing (true(1)). The
/// value is the fastest of 20 runs with the variables minus the fastest of 20 runs without them. Returns std::nullopt
/// if the program does not exist or a run failed.
std::optional<double> startup_cost_ms(const TargetRunner::Variables& variables);

/// Returns the verdict on one remedy: "FASTER", "SLOWER", "SAME", "AMBIGUOUS", "BREAKS", "MORE MEMORY" or "CHANGED
/// OUTPUT". If the goal is not a time, "LESS" and "MORE" replace the first two. The verdict is empty if the remedy was
/// not tried.
std::string remedy_verdict(const Advice& advice, std::size_t remedy);

/// Returns a metric's value under a remedy, divided by its value for the unchanged program.
Measured<Ratio> remedy_ratio(const Advice& advice, std::size_t remedy, Goal goal);

/// Returns the confirmation of a remedy, or nullptr if there was no confirmation.
const Confirmation* confirmation_of(const Advice& advice, std::size_t remedy);

Recommendation recommendation(const Advice& advice);

/// Returns how a confirmation changed a metric: "CPU time 910 ms -> 180 ms (0.20 times; 0.19 to 0.21)".
std::string change_text(const Confirmation& confirmation, Goal goal);

FrontierFound frontier_found(const Advice& advice);

}  // namespace zerotax::advise
