#include <fmt/format.h>

#include <memory>

#include "base/size.h"
#include "cli/stream_options.h"
#include "cli/subcommand.h"
#include "files/output_paths.h"
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
    "It reads /proc alone, and starts, stops and changes nothing. \"At most\" is an upper bound: a minor fault may "
    "also copy a page, or map one of a file. Ctrl-C ends it.\n";

constexpr std::uint64_t kLeastLog = 64 * kKiB;
constexpr double kMostSeconds = 3600;

struct Options {
  double interval = 1;
  std::string by = "process";
  std::string sort = "faults";
  std::string filter;
  std::int64_t rows = 0;
  std::vector<int> pids;
  bool once = false;
  std::int64_t samples = 0;
  std::string json;
  std::string log;
  std::string log_size = "64MiB";
  std::string prometheus;
};

struct Given {
  Argument rows;
  Argument samples;
  Argument log_size;
};

void check_pid(pid_t pid) {
  const char* kGive = "give --pid the PID of a running process (see ps)";
  if (pid <= 0) throw UsageError(fmt::format("invalid PID {}", pid), kGive);
  const auto facts = process_facts(pid);
  if (!facts || facts->state == 'Z') throw UsageError(fmt::format("no process has PID {}", pid), kGive);
  if (facts->process != pid) {
    throw UsageError(fmt::format("{} is a thread of process {}", pid, facts->process),
                     fmt::format("give --pid {}", facts->process));
  }
  if (facts->kernel_thread) throw UsageError(fmt::format("process {} is a thread of the kernel", pid), kGive);
}

std::uint64_t log_bytes(const std::string& word) {
  const std::uint64_t bytes = parse_size(word);
  if (bytes < kLeastLog) throw UsageError(fmt::format("invalid --log-size '{}'", word), "give 64KiB or more");
  return bytes;
}

void check(const Options& options, const Given& given) {
  if (!(options.interval >= 0.05) || options.interval > kMostSeconds) {
    throw UsageError(fmt::format("invalid --interval {:g}", options.interval), "give 0.05 to 3600 seconds");
  }
  if (given.rows.given() && options.rows < 1) {
    throw UsageError(fmt::format("invalid --rows {}", options.rows), "give 1 or more");
  }
  if (given.samples.given() && options.samples < 1) {
    throw UsageError(fmt::format("invalid --samples {}", options.samples), "give 1 or more");
  }
  if (given.samples.given() && options.once) {
    throw UsageError("both --once and --samples are given", "leave one of them out");
  }
  if (given.log_size.given() && options.log.empty()) {
    throw UsageError("--log-size without --log", "add --log FILE, or leave it out");
  }
  for (const auto& [name, path] : {std::pair("--log", &options.log), std::pair("--prometheus", &options.prometheus)}) {
    if (*path != "-") continue;
    throw UsageError(fmt::format("{} needs a file", name), "give its path; --json - writes to standard output");
  }
  for (const pid_t pid : options.pids) check_pid(pid);
  const std::string rotated = options.log.empty() ? "" : options.log + ".1";
  check_outputs(
      {{"--json", options.json}, {"--log", options.log}, {"--log", rotated}, {"--prometheus", options.prometheus}});
}

ExitStatus top(const Options& options, const Given& given) {
  check(options, given);
  Request request;
  request.interval_s = options.interval;
  if (given.samples.given() || options.once)
    request.samples = options.once ? 1 : static_cast<std::uint64_t>(options.samples);
  request.view.by = by_of(options.by);
  request.view.sort = sort_of(options.sort);
  request.view.filter = options.filter;
  request.view.rows = static_cast<std::size_t>(options.rows);
  request.view.pids = options.pids;
  request.has_rows = given.rows.given();
  request.json = options.json;
  request.log = options.log;
  request.log_bytes = log_bytes(options.log_size);
  request.prometheus = options.prometheus;
  return run_top(request);
}

const Subcommand command(
    "top", Wing::kProgram, "show live which processes fault and have memory zeroed again, at what cost", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("--interval", options->interval, "seconds between samples").shown_as("SECONDS").with_default();
      arguments.option("--by", options->by, "show processes, or groups of them: process, user, cgroup or command")
          .one_of(by_words())
          .shown_as("GROUP")
          .completed_by(by_words)
          .with_default();
      arguments.option("--sort", options->sort, "order of rows: faults, zeroed, refilled, cpu, rss or pid")
          .one_of(sort_words())
          .shown_as("COLUMN")
          .completed_by(sort_words)
          .with_default();
      arguments
          .option("--filter", options->filter, "show only processes with this in their command, user or cgroup name")
          .shown_as("WORD")
          .word();
      const Argument rows =
          arguments.option("--rows", options->rows, "rows to show (default: as many as fit a terminal, otherwise 20)")
              .shown_as("N");
      arguments.option("-p,--pid", options->pids, "show only this process (repeatable)").shown_as("PID").repeatable();
      arguments.flag("--once", options->once, "show one sample, and end");
      const Argument samples =
          arguments.option("--samples", options->samples, "end after this many samples").shown_as("N");
      add_json_lines(arguments, options->json);
      arguments.option("--log", options->log, "add each sample to this file, a line of JSON each").path();
      const Argument log_size =
          arguments
              .option("--log-size", options->log_size, "bytes of the log, and of the earlier part in FILE.1, together")
              .shown_as("SIZE")
              .with_default();
      arguments
          .option("--prometheus", options->prometheus,
                  "write totals to this file, as node_exporter's textfile collector reads them")
          .path();
      return [options, given = Given{rows, samples, log_size}] { return top(*options, given); };
    });

}  // namespace
}  // namespace zerotax::top
