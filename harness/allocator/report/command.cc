#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "base/wrap.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "files/results.h"
#include "judge/projects.h"
#include "os/print.h"
#include "point/point_document.h"
#include "report/report.h"
#include "report/reproducer.h"
#include "report/session.h"
#include "report/workload.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/planning.h"

namespace zerotax::report {

namespace {

constexpr const char* kExamples =
    "  zerotax report --allocator mimalloc\n"
    "  zerotax report --allocator jemalloc --finding jemalloc-purge-storm-1MiB --out jemalloc-report\n"
    "  zerotax report --allocator mine=./libmine.so --size 8MiB --severity low\n"
    "  zerotax report --allocator mine=./libmine.so --workload workloads/redis.calls --than jemalloc\n"
    "Exit status: 1 if a report could not be reproduced and was not written.\n";

struct Options {
  std::string allocator;
  std::vector<std::string> env;
  std::string finding;
  std::vector<std::string> sizes;
  std::string out;
  std::string severity = "medium";
  std::string workload;
  std::string than = "glibc";
  double timeout_s = 60;
};

/// Every other built-in allocator that means to be good.
std::vector<Allocator> controls_for(const Allocator& subject) {
  std::vector<std::string> words;
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    const Project* project = project_of(builtin.name);
    const bool deliberate = project != nullptr && project->deliberate;
    if (builtin.missing.empty() && builtin.name != subject.name && !deliberate) words.push_back(builtin.name);
  }
  return words.empty() ? std::vector<Allocator>{} : resolve_allocators(words, {});
}

std::vector<Finding> chosen(const AllocatorFindings& found, const Options& options) {
  std::vector<Finding> findings;
  std::vector<std::string> ids;
  for (const Finding& finding : found.findings) {
    ids.push_back(finding_id(found.allocator, finding));
    const bool wanted =
        options.finding.empty() ? finding.severity >= parse_severity(options.severity) : ids.back() == options.finding;
    if (wanted) findings.push_back(finding);
  }
  if (findings.empty() && !options.finding.empty() && !is_possible_id(options.finding, found.allocator)) {
    const std::string problem = fmt::format("unknown finding '{}'", options.finding);
    if (ids.empty()) throw UsageError(problem, fmt::format("{} has no findings", found.allocator));
    refuse_word(problem, options.finding, ids);
  }
  return findings;
}

void say_nothing_to_report(const AllocatorFindings& found, const Options& options) {
  if (!options.finding.empty()) {
    print_text("nothing to report: {} does not show {}\n", found.name(), options.finding);
    return;
  }
  print_text("nothing to report: {} has no finding of severity {} or higher\n", found.name(), options.severity);
  for (const Finding& finding : found.findings) {
    print_text("  {} (severity {}; report it with --finding)\n", finding_id(found.allocator, finding),
               severity_word(finding.severity));
  }
}

void write_folder(const ReportData& data, const std::string& folder) {
  make_new_folder({"--out", folder});
  const ReportText report = write_report(data);
  std::string lines;
  for (const Point& point : data.points) lines += json_line(to_json(point)) + "\n";
  write_file(folder + "/reproducer.c", data.source);
  write_file(folder + "/points.jsonl", lines);
  write_file(folder + "/report.json", json_text(report_json(data)));
  write_file(folder + "/" + report.file_name, report.text);
  print_text("{}/{}\n  {}\n", folder, report.file_name, report_title(data));
  if (const auto fix = known_fix(data)) {
    print_text("  fixed in {}: upgrade ({})\n", fix->version, fix->issue.url);
  }
}

/// `word` is the allocator as the command line named it.
ExitStatus report_all(ReportSession& session, const std::vector<Finding>& findings, const std::string& allocator,
                      const std::string& word, const std::string& out) {
  ExitStatus status = ExitStatus::kDone;
  for (const Finding& finding : findings) {
    const std::string id = finding_id(allocator, finding);
    if (!has_reproducer(finding.name)) {
      status = ExitStatus::kFinding;
      print_lines(stdout, id + "\n" + wrap(finding.sentence, "  ", "  "));
      print_text(
          "  No report was written, because zerotax has no reproducer for it. To see it: zerotax run --allocator {} "
          "--size {}\n",
          word, finding.named_bytes);
      continue;
    }
    auto data = session.measure(finding);
    const std::string refused = data ? session.reproduce(*data) : "it did not show when it was measured again";
    if (refused.empty()) {
      write_folder(*data, fmt::format("{}/{}", out, id));
      continue;
    }
    print_text(stderr, "zerotax: no report of {} was written, because it could not be reproduced: {}\n", id,
               refused.substr(0, refused.find('\n')));
    status = ExitStatus::kFinding;
  }
  return status;
}

/// The likely rule in an id that is not possible: "redundnt-reuse" of "glibc-redundnt-reuse-20MiB".
std::string rule_in(const std::string& id, const std::string& allocator) {
  const std::string rest = id.starts_with(allocator + "-") ? id.substr(allocator.size() + 1) : id;
  return rest.substr(0, rest.rfind('-'));
}

ExitStatus report(const Options& options) {
  parse_severity(options.severity);
  if (!options.workload.empty()) {
    return report_workload({options.workload, options.allocator, options.than, options.env,
                            options.out.empty() ? default_results_path() : options.out, options.timeout_s});
  }
  ReportRequest request;
  for (const std::string& size : options.sizes) request.sizes.push_back(parse_size(size));
  check_axes({{"calloc_loop"}, request.sizes, {}, {}});
  const std::string out = options.out.empty() ? default_results_path() : options.out;
  check_new_folder({"--out", out});
  request.subject = resolve_allocators({options.allocator}, options.env).front();
  const std::string name = request.subject.name;
  if (const Project* project = project_of(name); project != nullptr && project->deliberate) {
    print_text("nothing to report: {}\n", *project->deliberate);
    return ExitStatus::kDone;
  }
  if (!options.finding.empty() && !is_possible_id(options.finding, name)) {
    throw UsageError(fmt::format("invalid finding '{}'", options.finding),
                     fmt::format("{1}give an id as `zerotax findings` prints it: {0}-RULE-SIZE, as in "
                                 "{0}-redundant-reuse-100MiB",
                                 name, did_you_mean(rule_in(options.finding, name), finding_names())));
  }
  CCompiler compiler = find_c_compiler();
  request.controls = controls_for(request.subject);
  request.finding = options.finding;
  request.timeout_s = options.timeout_s;
  request.command = Subcommand::command_line;
  ReportSession session(std::move(request), std::move(compiler));
  try {
    const AllocatorFindings& found = session.survey();
    const std::vector<Finding> findings = chosen(found, options);
    if (findings.empty()) {
      say_nothing_to_report(found, options);
      return ExitStatus::kDone;
    }
    return report_all(session, findings, name, options.allocator, out);
  } catch (const ReportInterrupted&) {
    say_interrupted("only finished reports were written");
    return ExitStatus::kDone;
  }
}

const Subcommand command(
    "report", Wing::kAllocator, "write a bug report that reproduces, ready for the allocator's project", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_allocator(arguments, options->allocator).required();
      add_env(arguments, options->env);
      arguments.option("--finding", options->finding, "report only this finding, given by its ID (zerotax findings)")
          .shown_as("ID")
          .word();
      add_sizes(arguments, options->sizes, "", "measured besides the usual ones");
      arguments.option("--severity", options->severity, "leave out findings below this one: low, medium or high")
          .shown_as("LEVEL")
          .completed_by([] {
            return std::vector<std::string>{"low", "medium", "high"};
          })
          .with_default();
      arguments
          .option("--workload", options->workload,
                  "instead of findings: the fewest calls of this recording (record --calls) that take more page faults "
                  "than under --than")
          .shown_as("FILE")
          .path();
      arguments.option("--than", options->than, "with --workload: the allocator that does better, NAME or NAME=PATH")
          .checked_by(check_allocator_word)
          .needs({"--workload"}, {"{0} is given without {1}", "add {1} FILE, or leave it out"})
          .shown_as("NAME")
          .with_default();
      add_out(arguments, options->out);
      add_timeout(arguments, options->timeout_s);
      return [options] { return report(*options); };
    });

}  // namespace
}  // namespace zerotax::report
