#include "cli/common_options.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "run/allocators.h"

namespace zerotax {
namespace {

/// Appends a command's own text in parentheses, as in "fraction ... (more; default: 0)". The words before the
/// parentheses are the same in every command.
std::string worded(const std::string& words, const std::string& more, const std::string& fallback = "") {
  std::string inside = more;
  if (!fallback.empty()) inside += (inside.empty() ? "" : "; ") + ("default: " + fallback);
  return inside.empty() ? words : fmt::format("{} ({})", words, inside);
}

std::string repeatable(const std::string& more = "") { return more.empty() ? "repeatable" : more + "; repeatable"; }

constexpr const char* kAllocator =
    "select an allocator: a built-in NAME, NAME=PATH of any malloc replacement, or NAME=deb:RELEASE/PACKAGE of a "
    "Debian package";
constexpr const char* kEnv = "set an environment variable for one allocator, as in NAME:KEY=VALUE";
constexpr const char* kCase = "select a case, as zerotax list names it";
constexpr const char* kSize = "measure blocks of this size, as in 100MiB";
constexpr const char* kTouch = "write to this fraction of the pages before free, 0 to 1";
constexpr const char* kThread = "allocate in this thread: main or worker";

const std::vector<std::string>& cost_names() {
  static const std::vector<std::string> names{"calloc", "total"};
  return names;
}

}  // namespace

const std::vector<std::string>& usual_sizes() {
  static const std::vector<std::string> sizes{"64KiB", "1MiB", "20MiB", "100MiB"};
  return sizes;
}

Argument add_allocators(Arguments& arguments, std::vector<std::string>& values, const std::string& fallback) {
  return arguments.option("--allocator", values, worded(kAllocator, repeatable(), fallback))
      .checked_by(check_allocator_word)
      .shown_as("NAME[=PATH]")
      .repeatable();
}

Argument add_allocator(Arguments& arguments, std::string& value, const std::string& fallback) {
  return arguments.option("--allocator", value, worded(kAllocator, "", fallback))
      .checked_by(check_allocator_word)
      .shown_as("NAME[=PATH]");
}

Argument add_env(Arguments& arguments, std::vector<std::string>& values, const std::string& more) {
  return arguments.option("--env", values, worded(kEnv, repeatable(more))).shown_as("SETTING").repeatable();
}

Argument add_timeout(Arguments& arguments, double& seconds) {
  return arguments.option("--timeout", seconds, "set the time limit of each measured process, in seconds")
      .seconds()
      .shown_as("SECONDS")
      .with_default();
}

Argument add_cases(Arguments& arguments, std::vector<std::string>& values) {
  return arguments.option("--case", values, worded(kCase, repeatable(), "calloc_loop")).shown_as("CASE").repeatable();
}

Argument add_case(Arguments& arguments, std::string& value, const std::string& more) {
  return arguments.option("--case", value, worded(kCase, more)).shown_as("CASE").with_default();
}

Argument add_sizes(Arguments& arguments, std::vector<std::string>& values, const std::string& fallback,
                   const std::string& more) {
  return arguments.option("--size", values, worded(kSize, repeatable(more), fallback)).shown_as("SIZE").repeatable();
}

Argument add_size(Arguments& arguments, std::string& value, const std::string& more) {
  return arguments.option("--size", value, worded(kSize, more)).shown_as("SIZE").with_default();
}

Argument add_touches(Arguments& arguments, std::vector<double>& values, const std::string& fallback) {
  return arguments.option("--touch", values, worded(kTouch, repeatable(), fallback)).shown_as("FRACTION").repeatable();
}

Argument add_touch(Arguments& arguments, double& value, const std::string& more) {
  return arguments.option("--touch", value, worded(kTouch, more)).shown_as("FRACTION").with_default();
}

Argument add_threads(Arguments& arguments, std::vector<std::string>& values) {
  return arguments.option("--thread", values, worded(kThread, repeatable(), kUsualThread))
      .shown_as("THREAD")
      .repeatable();
}

Argument add_thread(Arguments& arguments, std::string& value, const std::string& more) {
  return arguments.option("--thread", value, worded(kThread, more)).shown_as("THREAD").with_default();
}

template <typename Number>
Argument add_ops(Arguments& arguments, Number& value, const std::string& fallback) {
  return arguments.option("--ops", value, worded("repeat each point's operation this many times", "", fallback))
      .shown_as("N");
}

template Argument add_ops(Arguments&, std::optional<std::int64_t>&, const std::string&);
template Argument add_ops(Arguments&, std::int64_t&, const std::string&);

template <typename Number>
Argument add_rounds(Arguments& arguments, Number& value, const std::string& more, const std::string& fallback) {
  return arguments
      .option("--rounds", value, worded("measure this many times, each time in a new process", more, fallback))
      .shown_as("N");
}

template Argument add_rounds(Arguments&, std::int64_t&, const std::string&, const std::string&);
template Argument add_rounds(Arguments&, int&, const std::string&, const std::string&);
template Argument add_rounds(Arguments&, unsigned&, const std::string&, const std::string&);

template <typename Number>
Argument add_grid(Arguments& arguments, Number& value, const std::string& more) {
  return arguments.option("--grid", value, worded("probe this many sizes per octave first", more))
      .shown_as("N")
      .with_default();
}

template Argument add_grid(Arguments&, std::int64_t&, const std::string&);
template Argument add_grid(Arguments&, unsigned&, const std::string&);

Argument add_from(Arguments& arguments, std::string& value) {
  return arguments.option("--from", value, "set the smallest size").shown_as("SIZE").with_default();
}

Argument add_to(Arguments& arguments, std::string& value, const std::string& more) {
  return arguments.option("--to", value, worded("set the largest size", more)).shown_as("SIZE").with_default();
}

Argument add_cost(Arguments& arguments, std::string& value) {
  return arguments
      .option("--cost", value,
              "compare the time of calloc, or the total time of calloc, of the program's writes and of free")
      .shown_as("COST")
      .completed_by(cost_names)
      .with_default();
}

void check_cost(const std::string& cost) { check_word("--cost", cost, cost_names()); }

Argument add_json(Arguments& arguments, std::string& path) {
  return arguments.option("--json", path, "write all results as JSON to this file (- means standard output)").path();
}

Argument add_json_lines(Arguments& arguments, std::string& path) {
  return arguments
      .option("--json", path,
              "write all results as JSON to this file (a line for each sample; - means standard output)")
      .path();
}

Argument add_read(Arguments& arguments, std::string& path, const std::vector<std::string>& beside) {
  return arguments.option("--read", path, "show the results in this earlier file of --json, and measure nothing")
      .path()
      .alone(beside, {"{0} measures nothing", "leave out {1}"});
}

Argument add_text(Arguments& arguments, std::string& path, const std::string& fallback) {
  return arguments.option("--text", path, worded("write the full text to this file", "", fallback)).path();
}

Argument add_out(Arguments& arguments, std::string& path) {
  return arguments.option("--out", path, "write results to this folder, which must be new or empty").path();
}

}  // namespace zerotax
