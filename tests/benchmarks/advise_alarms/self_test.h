#pragma once

#include <cstddef>
#include <vector>

#include "advise/result.h"
#include "base/fields.h"

namespace zerotax::advise {

struct SelfTest : DocumentHead {
  RESULT("benchmark-advise-alarms",
         "Searches in which every remedy is the program's present state, as written by benchmark-advise-alarms "
         "--json.");
  SCHEMA_FIELD("zerotax.advise_self_test/1");
  VERSION_FIELD();
  STARTED_FIELD();
  MEMBER(command, "The command line, verbatim.", least_items(1), kMayBeEmpty);
  ENVIRONMENT_FIELD();
  FIELD(Goal, goal, "The metric to reduce.");
  FIELD(std::size_t, advices, "Number of searches that finished.");
  FIELD(std::size_t, recommended, "Number of searches that recommended a remedy: false alarms.");
  FIELD(std::vector<Figures>, runs, "All runs, in the order in which they ran. All of them are in the present state.");
};

}  // namespace zerotax::advise
