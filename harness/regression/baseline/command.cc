#include <memory>

#include "baseline/options.h"
#include "baseline/subject.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"

namespace zerotax::baseline {
namespace {

constexpr const char* kBlessExamples =
    "  zerotax bless --allocator mine=./libmine.so --baseline mine.json\n"
    "  zerotax bless --baseline tests/regression/baselines        every built-in allocator\n"
    "  zerotax bless --allocator mine=./libmine.so --baseline quick.json --size 1MiB --size 20MiB\n"
    "  zerotax bless --baseline programs.json -- ./decoder input.bin\n"
    "  zerotax bless --baseline programs.json --name small -- ./decoder small.bin\n"
    "  zerotax bless --baseline programs.json --resident -- ./decoder input.bin\n"
    "  zerotax bless --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs several times, without a terminal; its input and output are /dev/null.\n";

constexpr const char* kCheckExamples =
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so\n"
    "  zerotax check --baseline tests/regression/baselines/jemalloc-5.3.0.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --explain\n"
    "  zerotax check --baseline mine.json --size 20MiB --only calloc_faults --only zeroed_bytes\n"
    "  zerotax check --baseline mine.json --tolerance returned_bytes=5% --json check.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --junit check.xml --github\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --prove\n"
    "  zerotax check --baseline programs.json -- ./decoder input.bin\n"
    "  zerotax check --baseline programs.json --name small --explain -- ./decoder small.bin\n"
    "  zerotax check --baseline programs.json --html check.html -- ./decoder input.bin\n"
    "  zerotax check --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs without a terminal; its input and output are /dev/null.\n";

/// `zerotax bless`: blesses the command after --, or allocators if there is no command.
ExitStatus bless(const Options& options) {
  const auto words = Subcommand::program_words();
  options.measure.check();
  return words.empty() ? bless_allocators(options) : bless_programs(options, words);
}

ExitStatus check(const Options& options) {
  const auto words = Subcommand::program_words();
  options.measure.check();
  return words.empty() ? check_allocators(options) : check_programs(options, words);
}

std::function<ExitStatus()> configure_bless(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  options->measure.add_allocators(arguments);
  arguments.option("--baseline", options->baseline, "write the baseline to this file, or several to this folder")
      .required()
      .path();
  add_sizes(arguments, options->measure.sizes, "all, and thresholds", "for a quick check")
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--thresholds", options->thresholds, "store thresholds even with --size")
      .excludes({"--"}, kOfAllocators);
  arguments.flag(
      "--allow-failing", options->allow_failing,
      "store the baseline even if a point crashes, hangs or breaks the promise of calloc, or if the command fails");
  arguments.flag("--force", options->force,
                 "overwrite a baseline of another allocator or configuration, or a file that is not a baseline");
  add_name(arguments, options->name);
  arguments
      .flag(
          "--resident", options->resident,
          "with a command: also store how much freed memory stays resident, when the program is idle, at its peak and "
          "at its end; check then compares it")
      .needs({"--"}, kOfCommands);
  add_rounds(arguments, options->rounds,
             "with a command: the maximum number of runs, at least 3; fewer are made if the counts agree")
      .with_default()
      .in_range(3, 1000)
      .needs({"--"}, kOfCommands);
  return [options] { return bless(*options); };
}

std::function<ExitStatus()> configure_check(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  options->measure.add_allocators(arguments, "the allocator that the baseline names");
  arguments.option("--baseline", options->baseline, "compare with this baseline, or with each baseline in this folder")
      .required()
      .path();
  add_sizes(arguments, options->measure.sizes, "all of the baseline, and thresholds").excludes({"--"}, kOfAllocators);
  arguments.option("--only", options->only, "compare only this metric, or thresholds (repeatable)")
      .shown_as("METRIC")
      .repeatable()
      .completed_by(compared_words)
      .excludes({"--"}, kOfAllocators);
  arguments
      .option("--tolerance", options->tolerances,
              "ignore differences of a metric up to a limit, as in METRIC=N, METRIC=N% or METRIC=SIZE "
              "(repeatable)")
      .shown_as("METRIC=N")
      .repeatable()
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--strict", options->strict, "exit with status 1 for improvements as well");
  arguments.flag("--prove", options->prove, "also search for broken promises for 20 seconds, as zerotax prove does")
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--explain", options->explain, "list every changed metric, and each metric that was not compared");
  arguments.flag("--force", options->force,
                 "compare a built-in allocator with the baseline of another, or ignore the baseline's settings; "
                 "let an output replace a file that zerotax did not write");
  add_name(arguments, options->name);
  options->exchange.add(arguments);
  options->exchange.add_html(arguments);
  return [options] { return check(*options); };
}

const Subcommand bless_subcommand("bless", Wing::kRegression, "Store the current counts as the baseline",
                                  kBlessExamples, configure_bless);
const Subcommand check_subcommand("check", Wing::kRegression, "Compare an allocator or a program with its baseline",
                                  kCheckExamples, configure_check);

}  // namespace

void add_name(Arguments& arguments, std::string& name) {
  arguments.option("--name", name, "name the command (default: the name of its file)")
      .shown_as("NAME")
      .word()
      .needs({"--"}, kOfCommands);
}

}  // namespace zerotax::baseline
