#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"

namespace zerotax {

/// Options that several commands have. Each has one name, one unit and one wording, which stand here alone; what a
/// command adds is in `more`, and what holds where the option is not given in `fallback`.
/// tests/measuring/cli/one_language_test.py compares them, and `zerotax help options` lists them.

/// The thread that allocates, where --thread is not given.
inline constexpr const char* kUsualThread = "main";
/// The size of a block, where one is asked for and --size is not given; and the sizes where several are: those in the
/// middle of what the study looks at, below and above the thresholds of the allocators that are built in.
inline constexpr const char* kUsualSize = "100MiB";
const std::vector<std::string>& usual_sizes();
/// Rounds: of one thing, and of two that are compared in pairs, where fewer prove little.
inline constexpr int kUsualRounds = 5;
inline constexpr int kUsualPairs = 16;

Argument add_allocators(Arguments& arguments, std::vector<std::string>& values,
                        const std::string& fallback = "all built in");
Argument add_allocator(Arguments& arguments, std::string& value, const std::string& fallback = "");
Argument add_env(Arguments& arguments, std::vector<std::string>& values, const std::string& more = "");
/// Of each process that is measured.
Argument add_timeout(Arguments& arguments, double& seconds);

Argument add_cases(Arguments& arguments, std::vector<std::string>& values);
Argument add_case(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_sizes(Arguments& arguments, std::vector<std::string>& values, const std::string& fallback,
                   const std::string& more = "");
/// `value` may be what is meant where it is not given.
Argument add_size(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_touches(Arguments& arguments, std::vector<double>& values, const std::string& fallback);
Argument add_touch(Arguments& arguments, double& value, const std::string& more = "");
Argument add_threads(Arguments& arguments, std::vector<std::string>& values);
Argument add_thread(Arguments& arguments, std::string& value, const std::string& more = "");

/// `Number`: std::int64_t, int, unsigned, or an optional of the first.
template <typename Number>
Argument add_ops(Arguments& arguments, Number& value, const std::string& fallback = "");
template <typename Number>
Argument add_rounds(Arguments& arguments, Number& value, const std::string& more, const std::string& fallback = "");
template <typename Number>
Argument add_grid(Arguments& arguments, Number& value, const std::string& more = "");
Argument add_from(Arguments& arguments, std::string& value);
Argument add_to(Arguments& arguments, std::string& value, const std::string& more = "");
Argument add_cost(Arguments& arguments, std::string& value);
/// Throws UsageError unless it is "calloc" or "total".
void check_cost(const std::string& cost);

Argument add_json(Arguments& arguments, std::string& path);
/// What a command wrote by --json before.
Argument add_read(Arguments& arguments, std::string& path);
/// The text for people, where it usually goes to `fallback`.
Argument add_text(Arguments& arguments, std::string& path, const std::string& fallback);
/// A folder, new or empty.
Argument add_out(Arguments& arguments, std::string& path);

/// --json of a command that writes a document for each sample, a line each.
Argument add_json_lines(Arguments& arguments, std::string& path);

}  // namespace zerotax
