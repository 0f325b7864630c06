#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <functional>
#include <memory>

#include "base/size.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/subcommand.h"
#include "cli/terminal_options.h"
#include "cow/result.h"
#include "cow/run.h"
#include "files/document.h"
#include "files/output_file.h"
#include "observe/running_process.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/page.h"
#include "os/print.h"
#include "os/terminal.h"
#include "run/figures.h"
#include "run/program_launch.h"

namespace zerotax::cow {
namespace {

constexpr const char* kExamples =
    "  zerotax cow -- ./snapshotting-server\n"
    "  zerotax cow --pid 4711 --interval 0.5 --seconds 10\n"
    "  zerotax cow --faults faults.jsonl -- ./server\n"
    "  zerotax cow --first-child --json cow.json -- ruby bigarray.rb\n"
    "  zerotax cow --stacks -- python3.12 -X perf bigarray.py\n"
    "Root sees every fault; an ordinary user sees the user-mode faults of their own programs. With a command, the exit "
    "status is the program's own (128 + N if signal N ended it).\n";

struct Options {
  std::optional<int> pid;
  double interval = 1;
  bool first_child = false;
  bool stacks = false;
  bool every_fault = false;
  double seconds = 0;  ///< 0 means until the program ends
  std::optional<std::string> name;
  std::string json;
  std::string faults;
  std::string svg;
  std::optional<std::string> buffer;
  std::string read;
};

/// Prints live lines. On a terminal, the current interval is redrawn in place until it is complete.
class LiveLines {
 public:
  /// `interval` is in seconds.
  LiveLines(std::FILE* to, double interval) : to_(to), terminal_(can_erase(to)), tenths_(interval < 1) {}

  [[nodiscard]] bool terminal() const { return terminal_; }
  void show(const FaultInterval& interval, bool complete) {
    // Lines must not wrap, because a wrapped line cannot be redrawn in place.
    const std::size_t columns = terminal_ ? terminal_columns(to_) : 0;
    std::string text = lines_++ == 0 ? cow_heading(columns) : "";
    if (drawn_ > 0) erase_lines(to_, drawn_);  // erases the lines that were drawn last
    const std::string rows = cow_lines(interval, tenths_, columns);
    drawn_ = complete ? 0 : std::count(rows.begin(), rows.end(), '\n');
    // The thread that watches the program draws these lines. If printing fails here, printing the summary would fail,
    // too.
    if (!try_to_print(to_, text + rows) || std::fflush(to_) != 0) failed_ = true;
  }
  /// Whether a line could not be written.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::FILE* to_;
  bool terminal_;
  bool tenths_;
  std::size_t lines_ = 0;
  std::ptrdiff_t drawn_ = 0;
  std::atomic<bool> failed_ = false;
};

void check_buffer(const std::string& word) {
  const std::uint64_t bytes = parse_size(word);
  if (bytes >= page_bytes() && bytes <= kGiB && std::has_single_bit(bytes)) return;
  throw UsageError(fmt::format("invalid --buffer '{}'", word),
                   fmt::format("give a power of two, {}KiB to 1GiB", page_bytes() / kKiB));
}

void check(const Options& options, const std::vector<std::string>& words) {
  if (options.pid) check_process(*options.pid);
  check_outputs({{"--faults", options.faults}, {"--json", options.json}, {"--svg", options.svg}}, program_input(words));
  if (!options.svg.empty()) draw_svg("cow", "");
}

/// Throws UsageError if some faults could not be written to the file of --faults.
void check_log(const FaultData& data) {
  if (!data.log || data.log->not_written == 0) return;
  throw UsageError(fmt::format("{} of {} were not written to {}: {}", data.log->not_written,
                               format_counted(data.log->not_written + data.log->written, "fault"),
                               data.log->path == "-" ? "standard output" : data.log->path, data.log->problem),
                   "give a regular file on a disk with free space, or a reader that is fast enough and reads until the "
                   "end");
}

/// Writes the document first, so that it is not lost if printing or drawing fails.
void show(const Options& options, const Cow& cow, const std::function<void()>& print) {
  const std::string document = json_text(cow_json(cow));
  if (!options.json.empty()) write_file(options.json, document);
  print();
  if (!options.svg.empty()) write_file(options.svg, draw_svg("cow", document));
}

std::string printed(const Cow& cow) { return wants_full_text() ? cow_text(cow) : answer_text(cow_answer(cow)); }

/// Shows a file, which an earlier version may have written, with this version's verdict.
ExitStatus judge_again(const Options& options) {
  check_outputs({{"--json", options.json}, {"--svg", options.svg}}, {{"--read", options.read}});
  Cow cow = read_cow(read_document(options.read, "cow", "give a file of zerotax cow --json"));
  static_cast<Verdict&>(cow) = cow_verdict(cow);
  show(options, cow, [&] {
    if (options.json != "-") print_lines(stdout, printed(cow));
  });
  return ExitStatus::kDone;
}

ExitStatus watch(const Options& options) {
  const std::vector<std::string> words = Subcommand::program_words();
  if (!options.read.empty()) return judge_again(options);
  check(options, words);
  CowSubject subject;
  subject.command = words;
  subject.counted = options.first_child ? "first child" : options.name ? "name " + *options.name : "all";
  subject.interval_s = options.interval;
  subject.started = utc_now();
  // Standard output belongs to the program, or to --json - or --faults -.
  std::FILE* to = words.empty() && options.json != "-" && options.faults != "-" ? stdout : stderr;
  LiveLines live(to, options.interval);
  FaultTracerOptions how;
  how.interval_s = options.interval;
  how.first_child = options.first_child;
  how.stacks = options.stacks;
  // Sampling would leave faults out of the file of --faults, which must contain every fault.
  how.sample = !options.every_fault && options.faults.empty();
  how.name_prefix = options.name.value_or("");
  how.faults_file = options.faults;
  how.buffer_bytes = options.buffer ? parse_size(*options.buffer) : 0;
  how.while_running = live.terminal();
  how.tell = [&](const FaultInterval& interval, bool complete) { live.show(interval, complete); };
  const CowRun run = options.pid ? cow_process(*options.pid, how, options.seconds, [&] { return live.failed(); })
                                 : cow_command(words, how);
  subject.pid = run.pid;
  subject.wall_s = run.wall_s;
  subject.exit_status = run.exit_status;
  subject.minor_faults = run.minor_faults;
  Cow cow = cow_result(subject, run.data, describe_environment());
  static_cast<Verdict&>(cow) = cow_verdict(cow);
  show(options, cow, [&] { print_lines(to, "\n" + printed(cow)); });
  check_log(run.data);
  return static_cast<ExitStatus>(run.exit_status);
}

const Subcommand command(
    "cow", Wing::kKernel, "Watch copy-on-write live: which process copies which pages", kExamples,
    [](Arguments& arguments) -> std::function<ExitStatus()> {
      const auto options = std::make_shared<Options>();
      arguments.option("-p,--pid", options->pid, "watch this running process and its descendants").shown_as("PID");
      arguments.option("--interval", options->interval, "set the time between lines, in seconds")
          .in_range(0.05, 3600, "seconds")
          .shown_as("SECONDS")
          .with_default();
      arguments.option("--seconds", options->seconds, "with --pid, stop after this time")
          .seconds()
          .needs({"--pid"},
                 {"--seconds without --pid", "a command is watched until it ends; use timeout(1) to end it earlier"})
          .shown_as("SECONDS");
      arguments.flag("--every-fault", options->every_fault,
                     "record every fault, which is exact but doubles the time of each fault");
      arguments.flag("--first-child", options->first_child, "count only the first forked process");
      arguments.flag("--stacks", options->stacks, "record the stack of each fault, and name the functions of scripts");
      arguments.option("--comm", options->name, "count only processes whose names start with this word")
          .excludes({"--first-child"})
          .shown_as("NAME")
          .word();
      add_read(arguments, options->read);
      add_json(arguments, options->json);
      arguments
          .option("--faults", options->faults,
                  "write a line of JSON per fault to this file (immediately, to a pipe or -)")
          .excludes({"--read"}, {"{1} measures nothing", "leave out {0}"})
          .path();
      arguments.option("--svg", options->svg, "draw copies, reuses and zero-fills over time to this file").path();
      arguments
          .option("--buffer", options->buffer,
                  "set the kernel's buffer for events, per CPU (default: 8MiB as root, otherwise up to 2MiB)")
          .word()
          .checked_by(check_buffer)
          .shown_as("SIZE");
      arguments.exactly_one({"--read", "--pid", "--"},
                            {"neither a process nor a command is given",
                             "give either --pid PID or a command after --, as in zerotax cow -- ./server"});
      return [options] { return watch(*options); };
    });

}  // namespace
}  // namespace zerotax::cow
