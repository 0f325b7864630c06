#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/catalogue.h"
#include "advise/recording.h"
#include "advise/search.h"
#include "advise/target.h"

namespace zerotax::advise {

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

}  // namespace zerotax::advise
