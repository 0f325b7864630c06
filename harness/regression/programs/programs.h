#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/exchange_options.h"

namespace zerotax::programs {

/// The options of `bless` and `check` for a command. This header is the front door of the room.
struct Request {
  std::vector<std::string> words;  ///< the command, or several recordings, each a command
  std::string baseline;            ///< a file
  std::string name;                ///< empty: the command's file
  std::vector<std::string> env;    ///< NAME:KEY=VALUE
  /// At most one, NAME or NAME=PATH, under which the command runs; empty: its own.
  std::vector<std::string> allocators;
  double timeout_s = 60;
};

/// Throws UsageError if an option of the one use of `bless` and `check` is given in the other: `of_allocators` with a
/// command after --, `of_commands` without one. Returns the command's words.
std::vector<std::string> command_words(const Arguments& arguments, const std::vector<std::string>& of_allocators,
                                       const std::vector<std::string>& of_commands);
/// --name.
void add_name(Arguments& arguments, std::string& name);

/// Runs a command at least three times and `rounds` times at most, and writes what it does into the baseline, beside
/// the others there. `allow_failing`: an exit status other than 0 is how it ends.
ExitStatus bless(const Request& request, std::int64_t rounds, bool allow_failing, bool force);

/// Compares a command with its baseline.
ExitStatus check(const Request& request, bool strict, bool explain, const ExchangeOptions& exchange);

/// Compares the two commands of `words`, with --- between them: counts, and times in `pairs` pairs (kUsualTimedPairs if
/// none is given). `env`: old:KEY=VALUE or new:KEY=VALUE.
ExitStatus compare(const std::vector<std::string>& words, const std::vector<std::string>& env,
                   std::optional<std::int64_t> pairs, double timeout_s, bool explain, const ExchangeOptions& exchange);

}  // namespace zerotax::programs
