#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/nearest.h"
#include "base/size.h"
#include "cli/common_options.h"
#include "cli/exchange_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "files/output_file.h"
#include "files/results.h"
#include "os/print.h"
#include "prove/functions.h"
#include "prove/promises.h"
#include "prove/result.h"
#include "prove/run.h"
#include "run/interrupt.h"

namespace zerotax::prove {
namespace {

constexpr const char* kExamples =
    "  zerotax prove --allocator mine=./libmine.so\n"
    "  zerotax prove --allocator mine=./libmine.so --seconds 600 --seed 2 --out proof\n"
    "  zerotax prove --allocator glibc --allocator mimalloc=deb:trixie/libmimalloc3 --json prove.json\n"
    "  zerotax prove --allocator mine=./libmine.so --api mine.api --without usable_too_small\n"
    "  zerotax prove --read prove.json --out proof\n"
    "Exit status: 1 if an allocator broke a promise; 3 if no zeroing call reused freed memory.\n"
    "zerotax contract tests the promises of the kernel instead, also under an emulator (--under).\n";

struct Options {
  std::vector<std::string> allocators;
  std::vector<std::string> env;
  double seconds = 60;
  std::int64_t seed = 1;
  std::int64_t threads = 4;
  std::vector<std::string> sizes;
  std::string api;
  std::vector<std::string> without;
  std::string read;
  std::string out;
  ExchangeOptions exchange;
};

/// Writes the programs that show findings, and the document. Returns the folder; empty if nothing was written.
std::string write_folder(const Options& options, const Proofs& proofs) {
  const bool has_program = std::any_of(proofs.proofs.begin(), proofs.proofs.end(),
                                       [](const Proof& each) { return each.finding && each.finding->program; });
  if (options.out.empty() && (!has_program || !options.read.empty())) return "";
  std::string folder = options.out.empty() ? default_results_path() : options.out;
  make_new_folder({"--out", folder});
  write_file(folder + "/prove.json", json_text(proofs));
  for (const Proof& each : proofs.proofs) {
    if (!each.finding || !each.finding->program) continue;
    write_file(folder + "/" + each.finding->program->file, source_text(*each.finding->program));
  }
  return folder;
}

ExitStatus show(const Options& options, const Proofs& proofs) {
  const std::string folder = write_folder(options, proofs);
  options.exchange.publish(prove_outcomes(proofs), proofs,
                           wants_full_text() ? prove_text(proofs) : answer_text(prove_answer(proofs, folder)));
  if (any_found(proofs)) return ExitStatus::kFinding;
  return any_untested(proofs) ? ExitStatus::kMachine : ExitStatus::kDone;
}

/// Throws UsageError for a word of --without that names no finding and no function.
void check_set_aside(const Options& options) {
  std::vector<std::string> known = all_words<FindingKind>();
  const std::string api = options.api.empty() ? "" : read_lines(options.api);
  for (const Function& each : functions_of(built_in_lines() + api, options.api)) known.push_back(each.symbol);
  for (const std::string& name : options.without) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError(fmt::format("no finding or function is called '{}'", name),
                     did_you_mean(name, known) + "give a finding such as misaligned, or a function such as memalign");
  }
}

ExitStatus prove(const Options& options) {
  if (!options.out.empty()) check_new_folder({"--out", options.out});
  if (!options.read.empty()) {
    check_outputs(options.exchange.outputs(), {{"--read", options.read}});
    return show(options, read_proofs(options.read));
  }
  std::vector<NamedPath> inputs = library_inputs(options.allocators);
  if (!options.api.empty()) {
    inputs.push_back({"--api", options.api});
  }
  check_set_aside(options);
  check_outputs(options.exchange.outputs(), inputs);
  ProveRequest request;
  request.seed = static_cast<std::uint64_t>(options.seed);
  request.seconds = options.seconds;
  request.threads = static_cast<unsigned>(options.threads);
  if (!options.api.empty()) request.api = std::filesystem::absolute(options.api).string();
  request.without = options.without;
  for (const std::string& size : options.sizes) request.sizes.push_back(parse_size(size));
  const Proofs proofs =
      prove_all(proved_allocators(options.allocators, options.env), request, Subcommand::command_line);
  if (!proofs.complete) say_interrupted();
  return show(options, proofs);
}

const Subcommand command(
    "prove", Wing::kAllocator, "Search for calls that break an allocator's promises, such as zeros from calloc",
    kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      add_allocators(arguments, options->allocators);
      add_env(arguments, options->env);
      arguments.option("--seconds", options->seconds, "search this long for each allocator")
          .seconds()
          .shown_as("SECONDS")
          .with_default();
      arguments.option("--seed", options->seed, "set the seed of the sequences of calls")
          .in_range(0, 4294967295.0)
          .shown_as("N")
          .with_default();
      arguments.option("--threads", options->threads, "let a sequence have up to this many threads")
          .in_range(1, 16, "threads")
          .shown_as("N")
          .with_default();
      add_sizes(arguments, options->sizes, "thresholds that a quick search finds", "and one byte around it");
      arguments.option("--api", options->api, "also call the functions in this file (docs/prove.md)").path();
      arguments.option("--without", options->without, "ignore this known finding or function (repeatable)")
          .shown_as("NAME")
          .word()
          .repeatable();
      add_out(arguments, options->out);
      options->exchange.add(arguments);
      add_read(arguments, options->read, {"--out"});
      return [options] { return prove(*options); };
    });

}  // namespace
}  // namespace zerotax::prove
