#pragma once

#include <string>
#include <vector>

#include "base/table.h"
#include "contract/promise.h"
#include "exchange/outcome.h"

namespace zerotax::contract {

/// What the command line asked for, and when.
struct Request {
  std::vector<std::string> command;
  std::string started;
  std::string read = {};  ///< the file that was read instead of testing
};

std::size_t count(const std::vector<Result>& results, Verdict verdict);

/// Whether every result is "not testable here".
bool is_nothing_tested(const std::vector<Result>& results);

/// The object of "zerotax.contract/1" (results/schema/contract.schema.json).
Json contract_json(const Results& results, const Request& request);

/// "1 of 79 promises is broken."
std::string verdict_sentence(const std::vector<Result>& results);

/// For JUnit and the like: what is broken fails the command.
exchange::OutcomeList contract_outcomes(const std::vector<Result>& results);

/// A line for each promise, under its family; evidence and program below what is broken. At most 80 columns, but for
/// programs.
std::string contract_text(const std::vector<Result>& results, const Palette& palette = {});

/// Every promise with its statement and who relies on it.
std::string promises_text(const std::vector<Promise>& promises);

}  // namespace zerotax::contract
