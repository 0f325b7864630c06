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
    "  zerotax bless --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs several times, without a terminal; its input and output are /dev/null.\n";

constexpr const char* kCheckExamples =
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so\n"
    "  zerotax check --baseline tests/regression/baselines/jemalloc-5.3.0.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --explain\n"
    "  zerotax check --baseline mine.json --size 20MiB --only calloc_faults --only zeroed_bytes\n"
    "  zerotax check --baseline mine.json --tolerance returned_bytes=5% --json check.json\n"
    "  zerotax check --baseline mine.json --allocator mine=./libmine.so --junit check.xml --github\n"
    "  zerotax check --baseline programs.json -- ./decoder input.bin\n"
    "  zerotax check --baseline programs.json --name small --explain -- ./decoder small.bin\n"
    "  zerotax check --baseline programs.json --html check.html -- ./decoder input.bin\n"
    "  zerotax check --baseline workloads.json --allocator mine=./libmine.so -- workloads/*.calls\n"
    "A command runs without a terminal; its input and output are /dev/null.\n";

/// `zerotax bless`: of the command after --, or of allocators if there is none.
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
  arguments.option("--baseline", options->baseline, "the file to write, or a folder for several").required().path();
  add_sizes(arguments, options->measure.sizes, "all, and thresholds", "a baseline that is checked quickly")
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--thresholds", options->thresholds, "with --size: thresholds as well")
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--allow-failing", options->allow_failing,
                 "write it even if points crash, hang, or break what calloc promises; of a command: even if its exit "
                 "status is not 0");
  arguments.flag("--force", options->force,
                 "overwrite a baseline of another allocator or configuration, or a file that is not a baseline");
  add_name(arguments, options->name);
  add_rounds(arguments, options->rounds, "of a command: at most; at least 3")
      .with_default()
      .in_range(3, 1000)
      .needs({"--"}, kOfCommands);
  return [options] { return bless(*options); };
}

std::function<ExitStatus()> configure_check(Arguments& arguments) {
  const auto options = std::make_shared<Options>();
  options->measure.add_allocators(arguments, "the one that the baseline names");
  arguments.option("--baseline", options->baseline, "a baseline, or a folder of them").required().path();
  add_sizes(arguments, options->measure.sizes, "all of the baseline, and thresholds").excludes({"--"}, kOfAllocators);
  arguments.option("--only", options->only, "only this metric, or thresholds (repeatable)")
      .shown_as("METRIC")
      .repeatable()
      .completed_by(compared_words)
      .excludes({"--"}, kOfAllocators);
  arguments
      .option("--tolerance", options->tolerances, "METRIC=N, N% or SIZE: ignore differences of up to this (repeatable)")
      .shown_as("METRIC=N")
      .repeatable()
      .excludes({"--"}, kOfAllocators);
  arguments.flag("--strict", options->strict, "exit with 1 for improvements, too");
  arguments.flag("--explain", options->explain, "list every changed metric, and all that was not compared");
  arguments.flag(
      "--force", options->force,
      "compare a built-in allocator with the baseline of another, or leave out the settings it names; let an "
      "output replace a file that zerotax did not write");
  add_name(arguments, options->name);
  options->exchange.add(arguments);
  options->exchange.add_html(arguments);
  return [options] { return check(*options); };
}

const Subcommand bless_subcommand("bless", Wing::kRegression,
                                  "accept what an allocator or a program does now as its baseline", kBlessExamples,
                                  configure_bless);
const Subcommand check_subcommand("check", Wing::kRegression,
                                  "compare what an allocator or a program does with a baseline", kCheckExamples,
                                  configure_check);

}  // namespace

void add_name(Arguments& arguments, std::string& name) {
  arguments.option("--name", name, "of a command: its name (default: that of its file)")
      .shown_as("NAME")
      .word()
      .needs({"--"}, kOfCommands);
}

}  // namespace zerotax::baseline
