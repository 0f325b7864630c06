#include "cli/common_options.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "run/allocators.h"

namespace zerotax {
namespace {

/// "fraction ... (more; default: 0)": what a command adds stands in brackets, so that the words before them are the
/// same everywhere.
std::string worded(const std::string& words, const std::string& more, const std::string& fallback = "") {
  std::string inside = more;
  if (!fallback.empty()) inside += (inside.empty() ? "" : "; ") + ("default: " + fallback);
  return inside.empty() ? words : fmt::format("{} ({})", words, inside);
}

std::string repeatable(const std::string& more = "") { return more.empty() ? "repeatable" : more + "; repeatable"; }

constexpr const char* kAllocator =
    "NAME of a built-in allocator, NAME=PATH of any malloc replacement, or NAME=deb:RELEASE/PACKAGE of one of Debian's";
constexpr const char* kEnv = "NAME:KEY=VALUE, an environment variable for one allocator";
constexpr const char* kCase = "what the program does, see `zerotax list`";
constexpr const char* kSize = "bytes of the block, as in 100MiB";
constexpr const char* kTouch = "fraction of the pages written before free, 0 to 1";
constexpr const char* kThread = "thread that allocates: main or worker";

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
  return arguments.option("--timeout", seconds, "time limit of each measured process, in seconds")
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
  return arguments.option("--ops", value, worded("operations of each point", "", fallback)).shown_as("N");
}

template Argument add_ops(Arguments&, std::optional<std::int64_t>&, const std::string&);
template Argument add_ops(Arguments&, std::int64_t&, const std::string&);

template <typename Number>
Argument add_rounds(Arguments& arguments, Number& value, const std::string& more, const std::string& fallback) {
  return arguments
      .option("--rounds", value, worded("times to measure each, every time in a new process", more, fallback))
      .shown_as("N");
}

template Argument add_rounds(Arguments&, std::int64_t&, const std::string&, const std::string&);
template Argument add_rounds(Arguments&, int&, const std::string&, const std::string&);
template Argument add_rounds(Arguments&, unsigned&, const std::string&, const std::string&);

template <typename Number>
Argument add_grid(Arguments& arguments, Number& value, const std::string& more) {
  return arguments.option("--grid", value, worded("sizes per octave to probe first", more))
      .shown_as("N")
      .with_default();
}

template Argument add_grid(Arguments&, std::int64_t&, const std::string&);
template Argument add_grid(Arguments&, unsigned&, const std::string&);

Argument add_from(Arguments& arguments, std::string& value) {
  return arguments.option("--from", value, "smallest size").shown_as("SIZE").with_default();
}

Argument add_to(Arguments& arguments, std::string& value, const std::string& more) {
  return arguments.option("--to", value, worded("largest size", more)).shown_as("SIZE").with_default();
}

Argument add_cost(Arguments& arguments, std::string& value) {
  return arguments.option("--cost", value, "time to compare: of calloc, or total (calloc + touch + free)")
      .shown_as("COST")
      .completed_by(cost_names)
      .with_default();
}

void check_cost(const std::string& cost) { check_word("--cost", cost, cost_names()); }

Argument add_json(Arguments& arguments, std::string& path) {
  return arguments.option("--json", path, "write everything as JSON to this file (- is standard output)").path();
}

Argument add_json_lines(Arguments& arguments, std::string& path) {
  return arguments
      .option("--json", path, "write everything as JSON to this file (a line for each sample; - is standard output)")
      .path();
}

Argument add_read(Arguments& arguments, std::string& path) {
  return arguments.option("--read", path, "measure nothing: show this earlier file of --json")
      .path()
      .alone({}, {"{0} measures nothing", "leave out {1}"});
}

Argument add_text(Arguments& arguments, std::string& path, const std::string& fallback) {
  return arguments.option("--text", path, worded("write the text to this file", "", fallback)).path();
}

Argument add_out(Arguments& arguments, std::string& path) {
  return arguments.option("--out", path, "folder for the results; must be new or empty").path();
}

}  // namespace zerotax
