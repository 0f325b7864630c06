#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/exchange_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "contract/result.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "os/print.h"
#include "run/interrupt.h"

namespace zerotax::contract {
namespace {

constexpr const char* kExamples =
    "  zerotax contract\n"
    "  zerotax contract --list\n"
    "  zerotax contract --promise dontneed --promise thp-dontneed --json contract.json\n"
    "  zerotax contract --seconds 1 --junit contract.xml\n"
    "  zerotax contract --results from-the-sandbox.jsonl\n"
    "  zerotax contract --under qemu-x86_64-static --report qemu-report\n"
    "Exit status: 1 if a promise is broken; 3 if no promise could be tested, or a promise has no verdict.\n";

struct Options {
  bool list = false;
  std::vector<std::string> only;
  double seconds = 10;
  std::string read;
  std::string under;
  std::string report;
  std::string subject;
  ExchangeOptions exchange;
};

std::vector<Promise> chosen(const Options& options) {
  std::vector<Promise> all = list_promises();
  if (options.only.empty()) return all;
  std::vector<std::string> ids;
  ids.reserve(all.size());
  for (const Promise& each : all) ids.push_back(each.id);
  for (const std::string& id : options.only) {
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    throw UsageError(fmt::format("unknown promise '{}'", id),
                     did_you_mean(id, ids) + "zerotax contract --list names the promises");
  }
  std::erase_if(all, [&](const Promise& each) {
    return std::find(options.only.begin(), options.only.end(), each.id) == options.only.end();
  });
  return all;
}

std::string subject_of(const Options& options, const Results& all) {
  if (!options.subject.empty()) return options.subject;
  if (!options.under.empty()) return options.under;
  return all.system ? fmt::format("{} {} ({})", all.system->system, all.system->kernel, all.system->machine)
                    : "this kernel";
}

/// Throws MachineError if no promise was tested, or if a promise has no verdict. An untested kernel must not seem to
/// have kept its promises.
void check_tested(const std::vector<Result>& results) {
  const auto ended =
      std::count_if(results.begin(), results.end(), [](const Result& each) { return each.without_verdict; });
  if (ended > 0) {
    throw MachineError(fmt::format("the suite ended without a verdict on {}",
                                   format_counted(static_cast<std::uint64_t>(ended), "promise")),
                       "the table shows how the suite ended; check whether the command of --under runs other static "
                       "programs");
  }
  if (is_nothing_tested(results)) {
    throw MachineError("no promise could be tested here", "the table shows what is missing");
  }
}

ExitStatus show(const Options& options, const Results& all, const Request& request) {
  const exchange::OutcomeList outcomes = contract_outcomes(all.results);
  options.exchange.write(outcomes, contract_document(all, request));
  if (!options.exchange.silent()) {
    print_lines(stdout, wants_full_text() ? contract_text(all, palette_for(stdout))
                                          : answer_text(contract_answer(all, request)));
  }
  options.exchange.print_annotations(outcomes);
  if (!options.report.empty()) {
    const std::vector<std::string> written = write_reports(all, subject_of(options, all), options.report);
    print_text(stderr, "{} in {}\n", format_counted(written.size(), "report"), options.report);
  }
  if (count(all.results, Verdict::kBroken) > 0) return ExitStatus::kFinding;
  if (all.complete) check_tested(all.results);
  return ExitStatus::kDone;
}

ExitStatus read(const Options& options) {
  check_outputs(options.exchange.outputs(), {{"--results", options.read}});
  const Results all = read_results(options.read);
  if (!all.complete) say_interrupted();
  return show(options, all, {Subcommand::command_line, utc_now(), options.read});
}

/// Splits a text at blanks.
std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty() && !text.empty()) throw UsageError("--under has no command", "give a program, such as an emulator");
  return words;
}

ExitStatus run(const Options& options) {
  if (!options.report.empty()) check_new_folder({"--report", options.report});
  if (!options.read.empty()) return read(options);
  check_outputs(options.exchange.outputs());
  const std::vector<std::string> under = split_words(options.under);
  const std::vector<Promise> promises = chosen(options);
  if (options.list) {
    print_lines(stdout, promises_text(promises));
    return ExitStatus::kDone;
  }
  const Request request{Subcommand::command_line, utc_now()};
  const Results all = test_promises(promises, options.seconds, under);
  if (!all.complete) say_interrupted();
  return show(options, all, request);
}

const Subcommand command(
    "contract", Wing::kKernel, "Test the kernel's promises about zeroed memory", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("--promise", options->only, "test only this promise (repeatable)")
          .shown_as("ID")
          .repeatable()
          .completed_by([] {
            std::vector<std::string> ids;
            for (const Promise& each : list_promises()) ids.push_back(each.id);
            return ids;
          });
      arguments.option("--seconds", options->seconds, "end a race after this time, even before 10,000 attempts")
          .seconds()
          .shown_as("SECONDS")
          .with_default();
      arguments
          .option("--results", options->read,
                  "show the output of zerotax-contract --json from another system, and test nothing")
          .excludes({"--promise", "--under"}, {"{0} shows tests of another system", "leave out {1}"})
          .path();
      arguments
          .option("--under", options->under,
                  "run the tests, and the programs that show a broken promise, under this command, such as an emulator")
          .shown_as("COMMAND")
          .word();
      arguments
          .option("--report", options->report,
                  "write a bug report for each broken promise to this folder, which must be new or empty")
          .path();
      arguments
          .option("--subject", options->subject, "name the tested system in the reports, such as 'QEMU 7.2, user mode'")
          .shown_as("NAME")
          .word();
      options->exchange.add(arguments);
      arguments.flag("--list", options->list, "list the promises and the programs that rely on them, and test nothing")
          .excludes({"--promise", "--under", "--report", "--results", "--json", "--junit", "--markdown", "--github"},
                    {"{0} names all promises and tests none", "leave out {1}"});
      return [options] { return run(*options); };
    });

}  // namespace
}  // namespace zerotax::contract
