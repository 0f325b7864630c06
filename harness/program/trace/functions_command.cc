#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/common_options.h"
#include "files/output_file.h"
#include "os/print.h"
#include "trace/document.h"
#include "trace/verbs.h"

namespace zerotax::trace {
namespace {

constexpr const char* kFunctionExamples =
    "  zerotax trace functions trace                                  # every function\n"
    "  zerotax trace functions trace --filter read_request --tree     # and what it calls\n"
    "  zerotax trace functions trace --filter '!log_*' --object libapp.so\n"
    "  zerotax trace functions --diff before after                    # status 1: it does more\n";

struct FunctionOptions {
  FunctionQuery query;
  std::string folder;
  std::string before;  ///< the earlier trace of --diff
  std::string json;
};

/// Returns the stream for the table: standard output, or standard error if JSON goes to standard output.
std::FILE* table_out(const FunctionOptions& options) { return options.json == "-" ? stderr : stdout; }

ExitStatus diff(FunctionOptions& options) {
  CtfTrace before(options.before);
  CtfTrace after(options.folder);
  const FunctionDiff result = diff_functions(before, after, options.query.filter);
  if (!options.json.empty()) write_file(options.json, json_text(function_diff_json(result)));
  print_lines(table_out(options), function_diff_text(result));
  print_lines(stderr, warnings_text(result.before) + warnings_text(result.after));
  return result.verdict == Direction::kMore ? ExitStatus::kFinding : ExitStatus::kDone;
}

ExitStatus show_functions(FunctionOptions& options) {
  std::vector<NamedPath> inputs = trace_files(options.folder);
  if (!options.before.empty()) {
    for (NamedPath& file : trace_files(options.before)) inputs.push_back(std::move(file));
  }
  check_outputs({{"--json", options.json}}, inputs);
  if (!options.before.empty()) return diff(options);
  CtfTrace trace(options.folder);
  const Functions functions = functions_of(trace, options.query);
  if (!options.json.empty()) write_file(options.json, json_text(functions_json(functions)));
  print_lines(table_out(options), functions_text(functions));
  print_lines(stderr, warnings_text(functions));
  return ExitStatus::kDone;
}

}  // namespace

TraceVerb functions_verb(Arguments& arguments) {
  const auto options = std::make_shared<FunctionOptions>();
  FunctionFilter& filter = options->query.filter;
  Arguments verb = arguments.verb("functions", "List function calls and their times", kFunctionExamples);
  add_trace_folder(verb, options->folder);
  add_patterns(verb, "-F,--filter", filter.functions, "FUNCTION", "select these functions and the functions they call");
  add_patterns(verb, "--object", filter.objects, "FILE", "select functions in this program or library");
  verb.flag("--tree", options->query.tree, "show the call tree, with the time of each path");
  verb.option("--depth", options->query.depth, "show this many levels of the tree")
      .needs({"--tree"}, {"{0} limits the tree, but {1} is not given", "give {1}, too"})
      .shown_as("N")
      .positive();
  verb.option("--diff", options->before, "compare with this earlier trace, as in --diff BEFORE AFTER")
      .excludes({"--tree"}, {"{1} shows one trace, and {0} compares two", "leave out one of these options"})
      .path();
  add_json(verb, options->json);
  return {verb, [options] {
            FunctionFilter& chosen = options->query.filter;
            chosen.not_functions = unwanted_of(chosen.functions);
            chosen.not_objects = unwanted_of(chosen.objects);
            return show_functions(*options);
          }};
}

}  // namespace zerotax::trace
