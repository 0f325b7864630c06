#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace zerotax {

/// Options that several commands have. This file alone defines the name, unit and wording of each. `more` is text that
/// a command adds, and `fallback` describes the default.
/// tests/measuring/cli/one_language_test.py compares the commands, and `zerotax help options` lists the options.

/// The allocating thread if --thread is not given.
inline constexpr const char* kUsualThread = "main";
/// The block size if --size is not given, for a command that takes one size. usual_sizes() is for commands that take
/// several sizes. All these sizes lie in the middle of the studied range, below and above the thresholds of the
/// built-in allocators.
inline constexpr const char* kUsualSize = "100MiB";
const std::vector<std::string>& usual_sizes();
/// The defaults of --rounds: for measuring one program or library, and for comparing two. A comparison needs more
/// rounds.
inline constexpr int kUsualRounds = 5;
inline constexpr int kUsualPairs = 16;

Argument add_allocators(Arguments& arguments, std::vector<std::string>& values,
                        const std::string& fallback = "all built in");
Argument add_allocator(Arguments& arguments, std::string& value, const std::string& fallback = "");
Argument add_env(Arguments& arguments, std::vector<std::string>& values, const std::string& more = "");
/// Adds the time limit of each measured process.
Argument add_timeout(Arguments& arguments, double& seconds);

Argument add_cases(Arguments& arguments, std::vector<std::string>& values);
Argument add_case(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_sizes(Arguments& arguments, std::vector<std::string>& values, const std::string& fallback,
                   const std::string& more = "");
/// The initial content of `value` is the default.
Argument add_size(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_touches(Arguments& arguments, std::vector<double>& values, const std::string& fallback);
Argument add_touch(Arguments& arguments, double& value, const std::string& more = "");
Argument add_threads(Arguments& arguments, std::vector<std::string>& values);
Argument add_thread(Arguments& arguments, std::string& value, const std::string& more = "");

/// `Number` is std::int64_t, int, unsigned, or std::optional<std::int64_t>.
template <typename Number>
Argument add_ops(Arguments& arguments, Number& value, const std::string& fallback = "");
template <typename Number>
Argument add_rounds(Arguments& arguments, Number& value, const std::string& more, const std::string& fallback = "");
template <typename Number>
Argument add_grid(Arguments& arguments, Number& value, const std::string& more = "");
Argument add_from(Arguments& arguments, std::string& value);
Argument add_to(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_cost(Arguments& arguments, std::string& value);
/// Throws UsageError unless `cost` is "calloc" or "total".
void check_cost(const std::string& cost);

Argument add_json(Arguments& arguments, std::string& path);
/// Adds --read, which shows a file that --json of the same command wrote earlier. `beside` has the options that may be
/// given with --read, besides the options for output.
Argument add_read(Arguments& arguments, std::string& path, const std::vector<std::string>& beside = {});
/// Adds --text, which writes the text for people. `fallback` names where the text goes without --text.
Argument add_text(Arguments& arguments, std::string& path, const std::string& fallback);
/// Adds --out, a folder that must be new or empty.
Argument add_out(Arguments& arguments, std::string& path);

/// Adds --json of a command that writes one document for each sample, one per line.
Argument add_json_lines(Arguments& arguments, std::string& path);

}  // namespace zerotax
