#include "prove/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "base/error.h"
#include "files/output_file.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/stop.h"
#include "prove/process_run.h"
#include "prove/program_writer.h"
#include "prove/reducer.h"
#include "run/debian_library.h"
#include "run/helper_program.h"

namespace zerotax::prove {
namespace {

/// A finding that depends on the timing of threads may need several replays.
constexpr int kReplays = 3;
/// A sequence below this length must show the finding twice, so that it does not depend on luck.
constexpr std::size_t kShort = 200;
/// Characters of a program's output that are kept. A program prints a line for each broken promise.
constexpr std::size_t kMostOutput = 4000;
constexpr double kLeastSeconds = 20;
constexpr double kMostSeconds = 60;
constexpr auto kProgramTimeout = std::chrono::seconds(30);

/// Operations and the finding that they show.
struct Shown {
  ProofFinding finding;
  Ops ops;
};

std::optional<ProofFinding> replayed(const Replayer& replayer, const Ops& ops) {
  for (int i = 0; i < kReplays; ++i) {
    if (auto found = replayer.replay(ops)) return found;
  }
  return std::nullopt;
}

/// Returns the reduced operations; nothing if the record does not show a finding again.
std::optional<Shown> reduced(const FindingWork& work, const Replayer& replayer, const RecordFile& record) {
  const auto first = replayed(replayer, record.ops);
  if (!first) return std::nullopt;
  const double limit = std::clamp(work.request.seconds, kLeastSeconds, kMostSeconds);
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(limit * 1e9);
  Shown shown{*first, {}};
  const auto shows_once = [&](const Ops& ops) {
    const auto found = replayer.replay(ops);
    if (!found || found->kind != first->kind) return false;
    shown.finding = *found;
    return true;
  };
  const auto shows = [&](const Ops& ops) {
    work.say(ops.size());
    return shows_once(ops) && (ops.size() >= kShort || shows_once(ops));
  };
  shown.ops = reduce(record.ops, shows, [&] { return monotonic_ns() > end || stop_requested(); }).ops;
  if (const auto last = replayed(replayer, shown.ops); last && last->kind == first->kind) shown.finding = *last;
  return shown;
}

std::uint64_t threads_in(const Ops& ops) {
  std::set<std::uint8_t> threads;
  for (const Op& op : ops) threads.insert(op.thread);
  return std::max<std::uint64_t>(1, threads.size());
}

/// Compiles the program and runs it.
class ProgramTrial {
 public:
  ProgramTrial(const FindingWork& work, const std::string& source) : program_(work.folder + "/program") {
    write_file(program_ + ".c", source);
    compile_c(find_c_compiler(), program_ + ".c", program_, {"-O0", "-fno-builtin", "-w"});
  }

  /// Returns whether the program shows the finding under this library; empty for the C library's own allocator.
  bool shows(const Allocator* allocator, FindingKind kind, std::string& output) const {
    ChildCommand command;
    command.program = program_;
    command.capture = true;
    command.fixed_layout = false;
    command.timeout = kProgramTimeout;
    if (allocator != nullptr) {
      for (const auto& entry : allocator->env) command.environment.emplace_back(entry);
      if (allocator->preload) command.environment.emplace_back("LD_PRELOAD", *allocator->preload);
      use_own_libraries(command, allocator->preload);
    }
    const ChildResult result = run_child(command, stop_requested);
    end_if_stopped();
    output = result.output;
    const bool has_exited = result.end == ChildResult::End::kExited;
    return kind == FindingKind::kCrashed ? !has_exited : has_exited && result.code == 1;
  }

 private:
  std::string program_;
};

/// The command that compiles and runs a program.
std::string how_of(const FindingWork& work, const std::string& file) {
  std::string settings;
  for (const auto& [key, value] : work.allocator.env) settings += fmt::format("{}={} ", key, value);
  if (work.allocator.preload) settings += fmt::format("LD_PRELOAD={} ", *work.allocator.preload);
  return fmt::format("cc -O0 -fno-builtin -pthread {} -o show -ldl && {}./show", file, settings);
}

void try_program(const FindingWork& work, FindingKind kind, FindingProgram& program) {
  try {
    const ProgramTrial trial(work, source_text(program));
    std::string output;
    program.shows = trial.shows(&work.allocator, kind, program.output);
    program.output.resize(std::min(program.output.size(), kMostOutput));
    program.control_shows = trial.shows(nullptr, kind, output);
  } catch (const Error& failure) {
    program.shows = program.control_shows = NotAvailable{failure.what()};
  }
}

/// Reduces recorded operations to the fewest that show the finding both in a replay and in a program. A replay makes
/// calls of its own before the recorded ones, so operations that only a replay reduced may not show the finding in a
/// program. Returns nothing if the whole record does not show the finding in a program either.
std::optional<Shown> reduced_by_program(const FindingWork& work, const Replayer& replayer, FindingKind kind,
                                        const Ops& record) {
  if (record.size() > kLongestProgram) return std::nullopt;
  const std::int64_t end = monotonic_ns() + static_cast<std::int64_t>(kLeastSeconds * 1e9);
  Shown shown;
  const auto shows = [&](const Ops& ops) {
    work.say(ops.size());
    const auto found = replayer.replay(ops);
    if (!found || found->kind != kind) return false;
    std::string output;
    const ProgramTrial trial(work, program_source(ops, work.functions, {kind, found->sentence, ""}));
    if (!trial.shows(&work.allocator, kind, output)) return false;
    shown.finding = *found;
    return true;
  };
  if (!shows(record)) return std::nullopt;
  shown.ops = reduce(record, shows, [&] { return monotonic_ns() > end || stop_requested(); }).ops;
  return shown;
}

constexpr std::uint64_t kMostBytes = 1U << 20;
constexpr std::uint64_t kRunBytes = 64U << 10;
constexpr std::uint64_t kMostBlocks = 100;
constexpr std::size_t kMostRepeats = 40;

/// Returns the sizes of the small blocks that operations allocate.
std::set<std::uint64_t> sizes_in(const Ops& ops) {
  std::set<std::uint64_t> sizes;
  for (const Op& op : ops) {
    const std::uint64_t m = std::max<std::uint64_t>(1, op.m);
    if (op.kind == kOpCall && op.n <= kMostBytes && m <= kMostBytes) sizes.insert(op.n * m);
  }
  return sizes;
}

std::uint32_t last_id(const Ops& ops) {
  std::uint32_t last = 0;
  for (const Op& op : ops) last = std::max({last, op.id, op.block});
  return last;
}

/// Returns operations that repeat `ops` on memory that is not zero: they first fill and free many blocks of the same
/// sizes. A program starts with zeroed memory, so a missing zero does not show there. Allocators reuse freed blocks
/// only after the rest of a run of blocks, so `ops` are repeated. Returns at most kLongestProgram operations, or `ops`
/// itself if there is no room for more.
Ops on_dirty_memory(const Ops& ops) {
  const std::uint32_t step = last_id(ops);
  std::uint32_t last = 0;
  Ops made;
  for (const std::uint64_t size : sizes_in(ops)) {
    const std::uint32_t first = last + 1;
    const auto blocks = std::clamp<std::uint64_t>(kRunBytes / std::max<std::uint64_t>(1, size), 4, kMostBlocks);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      Op call{};
      call.kind = kOpCall;
      call.row = kRowMalloc;
      call.fill = kFillUsable;
      call.id = ++last;
      call.n = size;
      made.push_back(call);
    }
    for (std::uint32_t id = first; id <= last; ++id) {
      Op release{};
      release.kind = kOpFree;
      release.block = id;
      made.push_back(release);
    }
  }
  if (made.size() + ops.size() > kLongestProgram) return ops;
  for (std::size_t round = 0; round < kMostRepeats && made.size() + ops.size() <= kLongestProgram;
       ++round, last += step) {
    for (Op op : ops) {
      op.id += op.id == 0 ? 0 : last;
      op.block += op.block == 0 ? 0 : last;
      made.push_back(op);
    }
  }
  return made;
}

/// Returns the program that shows the finding. Replaces the operations if only other ones show it in a program.
Measured<FindingProgram> program_of(const FindingWork& work, const Replayer& replayer, Shown& shown,
                                    const Ops& record) {
  if (shown.ops.size() > kLongestProgram) {
    return NotAvailable{fmt::format("the reduced sequence still has {} operations", shown.ops.size())};
  }
  FindingProgram program;
  program.file = program_file(work.allocator.name);
  program.how = how_of(work, program.file);
  ProgramWords words;
  const auto make = [&] {
    words = {shown.finding.kind, shown.finding.sentence, program.how};
    program.calls = calls_in(shown.ops);
    program.threads = threads_in(shown.ops);
    program.source = split(program_source(shown.ops, work.functions, words), '\n');
    try_program(work, shown.finding.kind, program);
  };
  make();
  if (!program.shows || *program.shows) return program;
  for (const Ops& other : {on_dirty_memory(shown.ops), record}) {
    auto again = reduced_by_program(work, replayer, shown.finding.kind, other);
    if (!again) continue;
    shown = std::move(*again);
    make();
    if (program.shows.value_or(false)) return program;
  }
  // Another promise may be broken before the one that the process reported.
  FindingProgram whole = program;
  words.kind.reset();
  whole.source = split(program_source(shown.ops, work.functions, words), '\n');
  try_program(work, shown.finding.kind, whole);
  return whole.shows.value_or(false) ? whole : program;
}

}  // namespace

ProofFinding reduced_finding(const FindingWork& work, const ProofFinding& found, const RecordFile& record) {
  ProofFinding finding = found;
  finding.operations = record.ops.size();
  const auto without = [&](const std::string& why) {
    finding.reduced = NotAvailable{why};
    finding.program = NotAvailable{why};
    return finding;
  };
  if (record.ops.empty()) return without("the process ended before its first recorded operation");
  if (found.kind == FindingKind::kHung) return without("a hang is not reduced, because each replay would take long");
  try {
    const Replayer replayer(work.allocator, record.counters, work.folder, work.request.api);
    auto shown = reduced(work, replayer, record);
    if (!shown) return without(fmt::format("the recorded operations did not show it again in {} replays", kReplays));
    const auto program = program_of(work, replayer, *shown, record.ops);
    finding = shown->finding;
    finding.operations = record.ops.size();
    finding.program = program;
    finding.reduced = shown->ops.size();
  } catch (const Stop&) {
    return without("the reduction was interrupted");
  }
  return finding;
}

}  // namespace zerotax::prove
