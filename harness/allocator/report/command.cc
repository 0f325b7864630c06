#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/nearest.h"
#include "base/shell.h"
#include "base/size.h"
#include "base/table.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "exchange/forms.h"
#include "files/output_file.h"
#include "files/results.h"
#include "judge/projects.h"
#include "os/print.h"
#include "point/point_document.h"
#include "prove/result.h"
#include "report/answer.h"
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
    "  zerotax report --proof prove.json --out report\n"
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
  std::string proof;
  double timeout_s = 60;
};

/// Returns all other built-in allocators that do not zero on purpose.
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

/// Writes the folder of a report, and returns the report's entry.
ReportedFinding write_folder(const ReportData& data, const std::string& folder) {
  make_new_folder({"--out", folder});
  const ReportText report = write_report(data);
  std::string lines;
  for (const Point& point : data.points) lines += json_line(to_json(point)) + "\n";
  write_file(folder + "/reproducer.c", data.source);
  write_file(folder + "/points.jsonl", lines);
  write_file(folder + "/report.json", json_text(report_json(data)));
  write_file(folder + "/" + report.file_name, report.text);
  say_step(fmt::format("wrote {}/{}", folder, report.file_name));
  return written_report(data, folder, report.file_name);
}

/// Writes the report of a finding, if the finding has a reproducer that shows it. `word` is the allocator as given on
/// the command line.
ReportedFinding report_one(ReportSession& session, const AllocatorFindings& found, const Finding& finding,
                           const std::string& word, const std::string& out) {
  const std::string id = finding_id(found.allocator, finding);
  ReportedFinding reported{.id = id,
                           .title = fmt::format("{}: {}", found.name(), finding.title),
                           .sentence = finding.sentence,
                           .severity = finding.severity};
  if (!has_reproducer(finding.name)) {
    reported.why_not = "No report was written, because zerotax has no reproducer for this finding.";
    reported.show =
        shell_text({"zerotax", "run", "--allocator", word, "--size", fmt::format("{}", finding.named_bytes)});
    return reported;
  }
  auto data = session.measure(finding);
  const std::string refused = data ? session.reproduce(*data) : "the finding did not show in a second measurement";
  if (refused.empty()) return write_folder(*data, fmt::format("{}/{}", out, id));
  const std::string why = refused.substr(0, refused.find('\n'));
  print_text(stderr, "zerotax: no report was written, because {} could not be reproduced: {}\n", id, why);
  reported.why_not = fmt::format("No report was written, because the finding could not be reproduced: {}.", why);
  return reported;
}

/// Prints the reports that were written, and the reasons why others were not.
ExitStatus show(const AllocatorFindings& found, const std::vector<ReportedFinding>& reported) {
  if (reported.empty()) return ExitStatus::kDone;
  print_lines(stdout, wants_full_text() ? report_text(found, reported) : answer_text(report_answer(found, reported)));
  const bool all_written =
      std::none_of(reported.begin(), reported.end(), [](const ReportedFinding& each) { return each.folder.empty(); });
  return all_written ? ExitStatus::kDone : ExitStatus::kFinding;
}

/// Returns the probable rule in an invalid id, such as "redundnt-reuse" in "glibc-redundnt-reuse-20MiB".
std::string rule_in(const std::string& id, const std::string& allocator) {
  const std::string rest = id.starts_with(allocator + "-") ? id.substr(allocator.size() + 1) : id;
  return rest.substr(0, rest.rfind('-'));
}

using prove::FindingKind;

const char* statement_of(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNotZero:
      return "all bytes of a block from calloc, and of other functions that promise zeros, are zero.";
    case FindingKind::kOverflowAccepted:
      return "calloc and reallocarray return NULL if the product of their arguments overflows.";
    case FindingKind::kContentsChanged:
    case FindingKind::kOverlap:
      return "a live block belongs to the program alone until it is freed.";
    case FindingKind::kMisaligned:
      return "a block is aligned for any object that fits in it, and as far as the call requires.";
    case FindingKind::kUsableTooSmall:
      return "malloc_usable_size returns at least the requested size.";
    case FindingKind::kNotKept:
      return "realloc keeps the contents up to the smaller of both sizes.";
    default:
      return "calls with valid arguments return, in the child of a fork as well.";
  }
}

/// Returns the name and the version of a proof's allocator.
std::string subject_of(const prove::Proof& proof) {
  const std::string version = text_field(proof.allocator, "version", "");
  return version.empty() ? proof.name() : fmt::format("{} {}", proof.name(), version);
}

/// Returns the machine of a document, one fact a line.
std::string environment_of(const prove::Proofs& proofs) {
  std::string lines;
  for (const char* key : {"kernel", "machine", "cpu", "libc", "thp"}) {
    const std::string value = text_field(proofs.environment, key, "");
    if (!value.empty()) lines += fmt::format("- {}: {}\n", key, value);
  }
  return lines + fmt::format("- found {} by zerotax {}\n", proofs.started, proofs.zerotax_version);
}

std::string proof_text(const prove::Proofs& proofs, const prove::Proof& proof) {
  const prove::ProofFinding& finding = *proof.finding;
  const prove::FindingProgram& program = *finding.program;
  const std::string found_by = fmt::format(
      "`zerotax prove` searched with random sequences of calls (seed {}). A sequence of {} found it, and "
      "was reduced to {}.",
      proofs.seed, format_counted(finding.operations, "operation"),
      format_count(finding.reduced.value_or(finding.operations)));
  const std::vector<std::pair<std::string, std::string>> values{
      {"SUBJECT", subject_of(proof)},
      {"TITLE", finding.sentence},
      {"FOUND", finding.sentence + "."},
      {"STATEMENT", statement_of(finding.kind)},
      {"HOW", program.how},
      {"CALLS", format_counted(program.calls, "call")},
      {"REPRODUCER", markdown_block(prove::source_text(program), "c")},
      {"SHOWN", markdown_block(program.output)},
      {"CONTROL", program.control_shows.value_or(false) ? "shows the same" : "finds nothing"},
      {"EXTENT", found_by},
      {"ENVIRONMENT", environment_of(proofs)}};
  return fill_in(embedded_forms().at("broken_promise"), values);
}

/// Writes a bug report for each broken promise in a file of `zerotax prove --json`: a folder in `out` with the text and
/// the program. Returns kFinding if a finding has no program that shows it. Throws UsageError for any other file.
ExitStatus report_proof(const std::string& file, const std::string& out) {
  const prove::Proofs proofs = prove::read_proofs(file);
  ExitStatus status = ExitStatus::kDone;
  std::size_t written = 0;
  for (const prove::Proof& proof : proofs.proofs) {
    if (!proof.finding) continue;
    const auto& program = proof.finding->program;
    const std::string id = fmt::format("{}-{}", proof.name(), word(proof.finding->kind));
    if (!program || !program->shows.value_or(false)) {
      print_text(stderr, "zerotax: no report was written, because no program shows {}\n", id);
      status = ExitStatus::kFinding;
      continue;
    }
    const std::string folder = fmt::format("{}/{}", out, id);
    make_new_folder({"--out", folder});
    write_file(fmt::format("{}/{}", folder, program->file), prove::source_text(*program));
    write_file(folder + "/report.md", proof_text(proofs, proof));
    print_text("{}/report.md\n  {}: {}\n", folder, subject_of(proof), proof.finding->sentence);
    ++written;
  }
  if (written == 0 && status == ExitStatus::kDone) print_text("nothing to report: {} has no broken promise\n", file);
  return status;
}

ExitStatus report(const Options& options) {
  parse_severity(options.severity);
  if (!options.proof.empty()) {
    const std::string out = options.out.empty() ? default_results_path() : options.out;
    check_new_folder({"--out", out});
    return report_proof(options.proof, out);
  }
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
  AllocatorFindings found;
  std::vector<ReportedFinding> reported;
  try {
    found = session.survey();
    const std::vector<Finding> findings = chosen(found, options);
    if (findings.empty()) {
      const Answer nothing = nothing_to_report(found, options.finding, options.severity, options.allocator);
      print_lines(stdout, answer_text(nothing, wants_full_text() ? SIZE_MAX : kAnswerLines));
      return ExitStatus::kDone;
    }
    for (const Finding& finding : findings) {
      reported.push_back(report_one(session, found, finding, options.allocator, out));
    }
  } catch (const ReportInterrupted&) {
    show(found, reported);
    say_interrupted("only finished reports were written");
    return ExitStatus::kDone;
  }
  return show(found, reported);
}

const Subcommand command(
    "report", Wing::kAllocator, "Write a reproducible bug report for the allocator's project", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_allocator(arguments, options->allocator);
      add_env(arguments, options->env);
      arguments
          .option("--finding", options->finding, "report only the finding with this ID, as zerotax findings prints it")
          .shown_as("ID")
          .word();
      add_sizes(arguments, options->sizes, "", "in addition to the usual sizes");
      arguments.option("--severity", options->severity, "omit findings below this severity: low, medium or high")
          .shown_as("LEVEL")
          .completed_by([] {
            return std::vector<std::string>{"low", "medium", "high"};
          })
          .with_default();
      arguments
          .option("--workload", options->workload,
                  "instead of findings, report the fewest calls of this recording (record --calls) that cause more "
                  "page faults than under --than")
          .shown_as("FILE")
          .path();
      arguments
          .option("--than", options->than,
                  "compare the allocator under --workload with this better allocator: NAME or NAME=PATH")
          .checked_by(check_allocator_word)
          .needs({"--workload"}, {"{0} is given without {1}", "add {1} FILE, or omit it"})
          .shown_as("NAME")
          .with_default();
      arguments.option("--proof", options->proof, "report the broken promises in this file of zerotax prove --json")
          .shown_as("FILE")
          .path()
          .alone({"--out"}, {"{0} has its own results, so {1} has no effect", "leave out {1}"});
      arguments.exactly_one(
          {"--allocator", "--proof"},
          {"no allocator to report", "add --allocator NAME, or --proof FILE of zerotax prove --json"});
      add_out(arguments, options->out);
      add_timeout(arguments, options->timeout_s);
      return [options] { return report(*options); };
    });

}  // namespace
}  // namespace zerotax::report
