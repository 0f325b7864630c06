#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/promise.h"

namespace zerotax::contract {

/// What the suite says of one promise that it was asked about.
struct SuiteAnswer {
  System system;
  Result result;  ///< what is broken comes with a program that was not run
};

/// The promises in what `zerotax-contract --list --json` printed. Throws a Json exception or JsonTextError.
std::vector<Promise> read_promises(const std::string& output);

/// What `zerotax-contract --json --only ID` printed; nothing if it ended without a verdict.
std::optional<SuiteAnswer> read_suite(const std::string& output, const Promise& promise);

}  // namespace zerotax::contract
