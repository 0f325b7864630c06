#include "report/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/names.h"
#include "base/shell.h"
#include "base/table.h"
#include "base/units.h"
#include "exchange/forms.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/page.h"
#include "os/print.h"
#include "replay/result.h"
#include "replay/run.h"
#include "report/reproducer.h"
#include "report/workload_calls.h"
#include "run/experiment.h"
#include "run/helper_program.h"
#include "run/interrupt.h"
#include "run/metered_run.h"

namespace zerotax::report {
namespace {

/// Minimum excess of page faults, far above random differences, and the excess at which a search stops. A larger excess
/// may need more calls, up to one for each fault.
constexpr std::int64_t kLeastExcess = 16;
constexpr std::int64_t kEnoughExcess = 64;
constexpr std::size_t kMostCalls = 200;
constexpr std::size_t kMostTries = 4000;
constexpr const char* kProgram = "workload";  ///< name in harness/allocator/report/reproducers

/// Additional source for workload.c that reads the calls from a file, so that the program is compiled only once. The
/// program then exits with 0, and prints its page faults.
constexpr const char* kFromFile = R"(#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
static const struct call *calls;
static unsigned long count;
#define COUNT count
__attribute__((constructor)) static void read_calls(void) {
  struct stat status;
  const int fd = open(getenv("ZEROTAX_CALLS"), O_RDONLY);
  if (fd < 0 || fstat(fd, &status) != 0) exit(3);
  count = status.st_size / sizeof *calls;
  if (count > 0) calls = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
}
)";

std::string source_of(const std::string& calls, std::size_t blocks, std::int64_t limit, const std::string& title,
                      const std::string& how, const std::string& claim) {
  return fill_in(embedded_reproducers().at(kProgram), {{"TITLE", title},
                                                       {"HOW", how},
                                                       {"LIMIT", std::to_string(limit)},
                                                       {"PAGE", std::to_string(page_bytes())},
                                                       {"CALLS", calls},
                                                       {"BLOCKS", std::to_string(std::max<std::size_t>(blocks, 1))},
                                                       {"CLAIM", claim}});
}

std::size_t blocks_in(const std::vector<WorkloadCall>& calls) {
  std::size_t blocks = 0;
  for (const WorkloadCall& call : calls) blocks = std::max<std::size_t>(blocks, call.block + std::size_t{1});
  return blocks;
}

/// Returns the page faults that workload.c prints, or nothing if the program ended without printing them.
std::optional<std::int64_t> faults_said(const std::string& line) {
  std::size_t made = 0;
  long long faults = 0;
  if (std::sscanf(line.c_str(), "%zu steps, %lld page faults", &made, &faults) != 2) return std::nullopt;
  return faults;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Counts the page faults of calls under an allocator.
class Evaluator {
 public:
  Evaluator(const CCompiler& compiler, std::size_t blocks, double timeout_s) : timeout_s_(timeout_s) {
    write_file(folder_.file("workload.c"), source_of(kFromFile, blocks, INT64_MAX / 2, "", "", ""));
    compile_c(compiler, folder_.file("workload.c"), folder_.file("workload"));
  }

  /// Returns the number of page faults. Throws UsageError if the program fails, and Stop if a signal interrupts the
  /// program.
  std::int64_t faults(const std::vector<WorkloadCall>& calls, const Allocator& allocator) {
    const std::string_view bytes{reinterpret_cast<const char*>(calls.data()), calls.size() * sizeof(WorkloadCall)};
    write_file(folder_.file("calls"), std::string(bytes));
    MeteredCommand command;
    command.program = folder_.file("workload");
    command.words = {"workload"};
    command.environment = {{"ZEROTAX_CALLS", folder_.file("calls")}};
    for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
    if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
    command.output = folder_.file("out");
    command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s_ * 1000));
    command.fixed_layout = true;
    const MeteredRun run = run_metered(command);
    if (run.end == MeteredRun::End::kStopped) throw Stop{};
    const auto faults = faults_said(last_line_of_file(command.output));
    if (faults && run.end == MeteredRun::End::kEnded && run.exited && run.code == 0) return *faults;
    throw UsageError(fmt::format("the recording's calls fail under {}", allocator.name),
                     "try the recording with zerotax replay");
  }

 private:
  TemporaryFolder folder_{"workload"};
  double timeout_s_;
};

/// Returns the fewest calls that show the excess, or nothing if the excess is too small. Shows progress.
std::optional<std::vector<WorkloadCall>> reduce(const std::vector<WorkloadCall>& calls, Evaluator& evaluator,
                                                const Allocator& subject, const Allocator& than, std::int64_t& whole) {
  const std::vector<std::size_t> units = units_of(calls);
  const std::size_t count = units.empty() ? 0 : *std::max_element(units.begin(), units.end()) + 1;
  const auto excess = [&](const std::vector<WorkloadCall>& some) {
    return evaluator.faults(some, subject) - evaluator.faults(some, than);
  };
  // The excess of the reproducer itself, without any calls.
  const std::int64_t nothing = excess({});
  whole = excess(calls) - nothing;
  const std::int64_t enough = std::min(whole / 2, kEnoughExcess);
  if (enough < kLeastExcess) return std::nullopt;
  Item item;
  item.label = fmt::format("looking for the fewest of {}", format_counted(calls_in(calls), "call"));
  std::vector<bool> kept;
  item.measure = [&](const Say& say) {
    std::size_t tries = 0;
    kept = shortest(count, kMostTries, [&](const std::vector<bool>& some) {
      end_if_stopped();
      const std::vector<WorkloadCall> left = calls_of(calls, units, some);
      say(fmt::format("{} at try {}", format_counted(calls_in(left), "call"), ++tries));
      return excess(left) - nothing >= enough;
    });
  };
  Experiment experiment("reducing");
  if (!experiment.run({item})) throw Stop{};
  return calls_of(calls, units, kept);
}

/// The program made from a few calls, and its output.
struct Reproduced {
  std::string title;
  std::string source;
  ReproducerRun blamed;
  ReproducerRun other;
};

Reproduced reproduce(const CCompiler& compiler, const std::vector<WorkloadCall>& calls, const Allocator& subject,
                     const Allocator& than) {
  const std::string array = fmt::format(
      "static const struct call calls[] = {{\n{}}};\n#define COUNT (sizeof calls / sizeof *calls)", calls_as_c(calls));
  const auto source = [&](std::int64_t limit, const std::string& title, const std::string& claim) {
    return source_of(array, blocks_in(calls), limit, title,
                     "cc -O2 -o reproducer reproducer.c; run it with the allocator in LD_PRELOAD", claim);
  };
  // This run counts the faults of the final program, including those of its data.
  const ReproducerProgram counting(compiler, source(INT32_MAX, "", ""));
  const std::int64_t faults = faults_said(counting.run(subject).output).value_or(0);
  const std::int64_t than_faults = faults_said(counting.run(than).output).value_or(0);
  Reproduced made;
  made.title = fmt::format("{} takes {} for what {} does with {}", subject.name, format_counted(faults, "page fault"),
                           than.name, format_count(than_faults));
  made.source = source((faults + than_faults) / 2, made.title, fmt::format("{} needs {}", than.name, than_faults));
  const ReproducerProgram program(compiler, made.source);
  made.blamed = program.run(subject);
  made.other = program.run(than);
  return made;
}

std::string report_text(const std::string& recording, const replay::Workload& workload, std::size_t calls,
                        const Reproduced& made) {
  const ReproducerRun& blamed = made.blamed;
  std::string text = fmt::format("# {}\n\n", markdown_escaped(made.title));
  text += fmt::format(
      "A recorded program makes {}. Of these, {} {} enough; `reproducer.c` makes {}, and needs only a C "
      "compiler:\n\n{}\n",
      format_counted(workload.recording.calls, "call"), format_count(calls), calls == 1 ? "is" : "are",
      calls == 1 ? "it" : "them",
      markdown_block(fmt::format("cc -O2 -o reproducer reproducer.c\n{}./reproducer\n./reproducer\n",
                                 blamed.preload ? fmt::format("LD_PRELOAD={} ", shell_word(*blamed.preload)) : ""),
                     "sh"));
  text += fmt::format("| allocator | said |\n|---|---|\n| {} | {} |\n| {} | {} |\n\n",
                      markdown_escaped(blamed.allocator), markdown_escaped(first_line(blamed.output)),
                      markdown_escaped(made.other.allocator), markdown_escaped(first_line(made.other.output)));
  replay::Workloads all;
  all.workloads = {workload};
  return text + fmt::format("The whole recording ({}), replayed under both:\n\n{}",
                            markdown_escaped(file_name(recording)), markdown_block(replay::workloads_text(all), ""));
}

/// Writes the report, and replays the whole recording under both allocators. Returns the number of recorded calls.
std::uint64_t write_folder(const WorkloadRequest& request, std::size_t calls, const Reproduced& made,
                           const std::vector<Allocator>& both) {
  replay::Plan plan;
  plan.allocators = both;
  plan.timeout_s = request.timeout_s;
  const DocumentHead head = replay::new_head("zerotax.replay/1");
  std::vector<replay::Workload> workloads;
  if (!replay::replay_calls({request.recording}, plan, workloads)) throw Stop{};
  const replay::Workload& workload = workloads.front();
  make_new_folder({"--out", request.out});
  write_file(request.out + "/reproducer.c", made.source);
  write_file(request.out + "/replay.json", json_text(replay::replay_json({head, workload})));
  write_file(request.out + "/report.md", report_text(request.recording, workload, calls, made));
  return workload.recording.calls;
}

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

}  // namespace

ExitStatus report_workload(const WorkloadRequest& request) {
  check_new_folder({"--out", request.out});
  const replay::CallsFile file(request.recording);
  const CCompiler compiler = find_c_compiler();
  if (name_in(request.allocator) == name_in(request.than)) {
    throw UsageError(fmt::format("{} is compared with itself", name_in(request.than)), "give --than another allocator");
  }
  const std::vector<Allocator> both = replay::replayed_allocators({request.than, request.allocator}, request.env);
  const Allocator& than = both.front();
  const Allocator& subject = both.back();
  const std::vector<WorkloadCall> calls = workload_calls(file);
  Evaluator evaluator(compiler, blocks_in(calls), request.timeout_s);
  std::int64_t whole = 0;
  const auto shown = reduce(calls, evaluator, subject, than, whole);
  if (!shown) {
    print_text("nothing to report: {} takes {} page faults {} than {} for {}\n", subject.name,
               format_count(whole < 0 ? -whole : whole), whole < 0 ? "fewer" : "more", than.name, request.recording);
    return ExitStatus::kFinding;
  }
  if (shown->size() > kMostCalls) {
    print_text(
        "no report was written: the shortest program found that shows the excess has {} lines of calls, more than "
        "{}\n",
        format_count(shown->size()), kMostCalls);
    return ExitStatus::kFinding;
  }
  const Reproduced made = reproduce(compiler, *shown, subject, than);
  if (!made.blamed.shows() || !made.other.does_not_show()) {
    print_text("no report was written: the program of {} does not show the excess by itself\n",
               format_counted(calls_in(*shown), "call"));
    return ExitStatus::kFinding;
  }
  const std::uint64_t recorded_calls = write_folder(request, calls_in(*shown), made, both);
  print_text("{}/report.md\n  {}, in {} of {}\n", request.out, made.title, format_count(calls_in(*shown)),
             format_counted(recorded_calls, "call"));
  return ExitStatus::kDone;
}

}  // namespace zerotax::report
