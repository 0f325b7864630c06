#pragma once

#include <string>

#include "exchange/outcome.h"

namespace zerotax::exchange {

/// Workflow commands of GitHub Actions, a line each: the verdict, then ::error:: for each outcome that fails the
/// command, ::warning:: for what could not be judged and for what changed without failing it, ::notice:: for what is
/// better. GitHub shows ten annotations of a kind for a step: what is beyond that is one command that says how many.
std::string github_commands(const OutcomeList& list);

}  // namespace zerotax::exchange
