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
    "  zerotax trace functions trace --not 'log_*' --object libapp.so\n"
    "  zerotax trace functions --diff before after                    # status 1: it does more\n";

struct FunctionOptions {
  FunctionQuery query;
  std::string folder;
  std::string before;  ///< of --diff
  std::string json;
  std::string perfetto;
};

/// Where the table goes: standard output, unless something else goes there.
std::FILE* table_out(const FunctionOptions& options) {
  return options.json == "-" || options.perfetto == "-" ? stderr : stdout;
}

void check_diff(const FunctionOptions& options) {
  const char* with = options.query.tree ? "--tree" : options.perfetto.empty() ? nullptr : "--perfetto";
  if (with == nullptr) return;
  throw UsageError(fmt::format("{} shows one trace, and --diff compares two", with), "leave out one of them");
}

ExitStatus diff(FunctionOptions& options) {
  check_diff(options);
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
  check_outputs({{"--json", options.json}, {"--perfetto", options.perfetto}}, inputs);
  refuse_program_words("functions");
  check_trace_given("functions", options.folder);
  if (options.query.depth != 0 && !options.query.tree) {
    throw UsageError("--depth limits the tree, which is not asked for", "give --tree, too");
  }
  if (!options.before.empty()) return diff(options);
  CtfTrace trace(options.folder);
  const Functions functions = functions_of(trace, options.query);
  if (!options.json.empty()) write_file(options.json, json_text(functions_json(functions)));
  write_perfetto_file(options.perfetto, trace);
  print_lines(table_out(options), functions_text(functions));
  print_lines(stderr, warnings_text(functions));
  return ExitStatus::kDone;
}

}  // namespace

TraceVerb functions_verb(Arguments& arguments) {
  const auto options = std::make_shared<FunctionOptions>();
  FunctionFilter& filter = options->query.filter;
  Arguments verb = arguments.verb("functions", "list function calls and their times", kFunctionExamples);
  verb.option("folder", options->folder, "folder of the trace").path();
  add_patterns(verb, "-F,--filter", filter.functions, "FUNCTION", "only these functions and what they call");
  add_patterns(verb, "--not", filter.not_functions, "FUNCTION", "without these functions and what they call");
  add_patterns(verb, "--object", filter.objects, "FILE", "only functions in this program or library");
  add_patterns(verb, "--not-object", filter.not_objects, "FILE", "no functions in this program or library");
  verb.flag("--tree", options->query.tree, "show who calls whom, with the times of each path");
  verb.option("--depth", options->query.depth, "only so many levels of the tree").shown_as("N").positive();
  verb.option("--diff", options->before, "compare with this earlier trace: --diff BEFORE AFTER").path();
  add_json(verb, options->json);
  verb.option("--perfetto", options->perfetto, "write the events for ui.perfetto.dev to this file").path();
  return {verb, [options] { return show_functions(*options); }};
}

}  // namespace zerotax::trace
