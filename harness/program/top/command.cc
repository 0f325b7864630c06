#include <fmt/format.h>

#include <memory>

#include "base/size.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "files/output_file.h"
#include "os/process_info.h"
#include "top/run.h"

namespace zerotax::top {
namespace {

constexpr const char* kExamples =
    "  zerotax top                                       # keys: q quits, / filters\n"
    "  zerotax top --once --rows 5 --sort refilled\n"
    "  zerotax top --by cgroup --samples 10 --json top.jsonl\n"
    "  zerotax top --pid 4711 --interval 0.5\n"
    "  zerotax top --interval 10 --log top.log --log-size 64MiB --prometheus zerotax.prom\n"
    "zerotax top only reads /proc; it starts, stops and changes nothing. \"At most\" is an upper bound: a minor fault "
    "may "
    "also copy a page, or map a page of a file. Ctrl-C ends the command.\n";

constexpr std::uint64_t kLeastLog = 64 * kKiB;
constexpr double kMostNumber = 1e9;

struct Options {
  double interval = 1;
  std::string by = "process";
  std::string sort = "faults";
  std::string filter;
  std::optional<std::int64_t> rows;
  std::vector<int> pids;
  bool once = false;
  std::optional<std::int64_t> samples;
  std::string json;
  std::string log;
  std::string log_size = "64MiB";
  std::string prometheus;
};

const Refusal kNeedsFile{"{0} needs a file", "give the path of the file; --json - writes to standard output"};

void check_pid(pid_t pid) {
  const char* kGive = "give --pid the PID of a running process (see ps)";
  if (pid <= 0) throw UsageError(fmt::format("invalid PID {}", pid), kGive);
  const auto facts = process_facts(pid);
  if (!facts || facts->state == 'Z') throw UsageError(fmt::format("no process has PID {}", pid), kGive);
  if (facts->process != pid) {
    throw UsageError(fmt::format("{} is a thread of process {}", pid, facts->process),
                     fmt::format("give --pid {}", facts->process));
  }
  if (facts->kernel_thread) throw UsageError(fmt::format("process {} is a kernel thread", pid), kGive);
}

void check(const Options& options) {
  for (const pid_t pid : options.pids) check_pid(pid);
  const std::string rotated = options.log.empty() ? "" : options.log + ".1";
  check_outputs(
      {{"--json", options.json}, {"--log", options.log}, {"--log", rotated}, {"--prometheus", options.prometheus}});
}

ExitStatus top(const Options& options) {
  check(options);
  Request request;
  request.interval_s = options.interval;
  if (options.samples) request.samples = static_cast<std::uint64_t>(*options.samples);
  if (options.once) request.samples = 1;
  request.view.by = by_of(options.by);
  request.view.sort = sort_of(options.sort);
  request.view.filter = options.filter;
  request.view.rows = static_cast<std::size_t>(options.rows.value_or(0));
  request.view.pids = options.pids;
  request.has_rows = options.rows.has_value();
  request.json = options.json;
  request.log = options.log;
  request.log_bytes = parse_size(options.log_size);
  request.prometheus = options.prometheus;
  return run_top(request);
}

const Subcommand command(
    "top", Wing::kProgram, "Show live which processes fault and have memory zeroed again", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("--interval", options->interval, "take a sample every SECONDS")
          .in_range(0.05, 3600, "seconds")
          .shown_as("SECONDS")
          .with_default();
      arguments.option("--by", options->by, "group processes by process, user, cgroup or command")
          .one_of(by_words())
          .shown_as("GROUP")
          .completed_by(by_words)
          .with_default();
      arguments.option("--sort", options->sort, "sort rows by faults, zeroed, refilled, cpu, rss or pid")
          .one_of(sort_words())
          .shown_as("COLUMN")
          .completed_by(sort_words)
          .with_default();
      arguments
          .option("--filter", options->filter, "show only processes whose command, user or cgroup contains this word")
          .shown_as("WORD")
          .word();
      arguments
          .option("--rows", options->rows, "show this many rows (default: as many as fit a terminal, otherwise 20)")
          .in_range(1, kMostNumber)
          .shown_as("N");
      arguments.option("-p,--pid", options->pids, "show only this process (repeatable)").shown_as("PID").repeatable();
      arguments.flag("--once", options->once, "show one sample and end");
      arguments.option("--samples", options->samples, "end after this many samples")
          .in_range(1, kMostNumber)
          .excludes({"--once"})
          .shown_as("N");
      add_json_lines(arguments, options->json);
      arguments.option("--log", options->log, "append each sample to this file, as a line of JSON")
          .excludes({"--log=-"}, kNeedsFile)
          .path();
      arguments
          .option("--log-size", options->log_size, "limit the total size of the log and of its earlier part, FILE.1")
          .size_in(kLeastLog, kAddressSpaceBytes)
          .needs({"--log"}, {"{0} without {1}", "add {1} FILE, or leave out {0}"})
          .shown_as("SIZE")
          .with_default();
      arguments
          .option("--prometheus", options->prometheus,
                  "write totals to this file, for node_exporter's textfile collector")
          .excludes({"--prometheus=-"}, kNeedsFile)
          .path();
      return [options] { return top(*options); };
    });

}  // namespace
}  // namespace zerotax::top
