#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/nearest.h"
#include "cli/colour.h"
#include "cli/exchange_options.h"
#include "cli/subcommand.h"
#include "contract/document.h"
#include "core/interrupt.h"
#include "core/output_paths.h"
#include "core/results.h"

namespace zerotax::contract {
namespace {

constexpr const char* kExamples =
    "  zerotax contract\n"
    "  zerotax contract --list\n"
    "  zerotax contract --only dontneed --only thp-dontneed --json contract.json\n"
    "  zerotax contract --seconds 1 --junit contract.xml\n"
    "  zerotax contract --read from-the-sandbox.jsonl\n"
    "Exit status: 1 if a promise is broken.\n";

struct Options {
  bool list = false;
  std::vector<std::string> only;
  double seconds = 10;
  std::string read;
  ExchangeOptions exchange;
};

std::vector<Promise> chosen(const Options& options) {
  std::vector<Promise> all = list_promises();
  if (options.only.empty()) return all;
  std::vector<std::string> ids;
  for (const Promise& each : all) ids.push_back(each.id);
  for (const std::string& id : options.only) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end())
      refuse_word(fmt::format("unknown promise '{}'", id), id, ids);
  }
  std::erase_if(all, [&](const Promise& each) {
    return std::find(options.only.begin(), options.only.end(), each.id) == options.only.end();
  });
  return all;
}

ExitStatus show(const Options& options, const Results& all, const Request& request) {
  const exchange::OutcomeList outcomes = contract_outcomes(all.results);
  options.exchange.write(outcomes, contract_json(all, request));
  if (!options.exchange.silent()) fmt::print("{}", contract_text(all.results, palette_for(stdout)));
  options.exchange.print_annotations(outcomes);
  return count(all.results, Verdict::kBroken) > 0 ? ExitStatus::kFinding : ExitStatus::kDone;
}

ExitStatus read(const Options& options) {
  if (options.list || !options.only.empty()) {
    throw UsageError("--read shows what was tested elsewhere", "leave out --list and --only");
  }
  check_outputs(options.exchange.outputs(), {{"--read", options.read}});
  const Results all = read_results(options.read);
  if (!all.complete) fmt::print(stderr, "zerotax: the suite was interrupted: showing what it had finished\n");
  return show(options, all, {Subcommand::command_line, utc_now(), options.read});
}

ExitStatus run(const Options& options) {
  if (!options.read.empty()) return read(options);
  if (!(options.seconds > 0) || options.seconds > 86'400) {
    throw UsageError(fmt::format("invalid --seconds {:g}", options.seconds),
                     "give seconds, more than 0 and at most 86400");
  }
  check_outputs(options.exchange.outputs());
  const std::vector<Promise> promises = chosen(options);
  if (options.list) {
    fmt::print("{}", promises_text(promises));
    return ExitStatus::kDone;
  }
  const Request request{Subcommand::command_line, utc_now()};
  const Results all = test_promises(promises, options.seconds, stop_requested);
  if (!all.complete) fmt::print(stderr, "zerotax: interrupted: showing only what was finished\n");
  return show(options, all, request);
}

const Subcommand command(
    "contract", "test the promises of the kernel that zeroing rests on", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.flag("--list", options->list, "name the promises and who relies on them; test none");
      arguments.option("--only", options->only, "test this promise; may be repeated")
          .shown_as("ID")
          .repeatable()
          .completed_by([] {
            std::vector<std::string> ids;
            for (const Promise& each : list_promises()) ids.push_back(each.id);
            return ids;
          });
      arguments.option("--seconds", options->seconds, "how long a race goes on, where 10,000 tries take longer")
          .shown_as("SECONDS")
          .with_default();
      arguments.option("--read", options->read, "test nothing: show what zerotax-contract --json printed elsewhere")
          .path();
      options->exchange.add(arguments);
      return [options] { return run(*options); };
    });

}  // namespace
}  // namespace zerotax::contract
