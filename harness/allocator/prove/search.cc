#include "prove/search.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "os/memory.h"
#include "os/stop.h"
#include "run/helper_program.h"

namespace zerotax::prove {
namespace {

/// Time after its limit at which zerotax ends a process that still runs.
constexpr std::chrono::duration<double> kGrace{8};
constexpr const char* kRunAProgram = "run a program with this library, to see the failure";

std::vector<std::string> arguments_of(const ProveRequest& request, const std::vector<std::uint64_t>& sizes,
                                      double seconds, const std::string& record) {
  std::vector<std::string> words{"--seed",    std::to_string(request.seed),
                                 "--seconds", fmt::format("{:.3f}", seconds),
                                 "--threads", std::to_string(request.threads),
                                 "--memory",  std::to_string(read_memory_state().usable()),
                                 "--record",  record};
  for (const std::uint64_t size : sizes) words.insert(words.end(), {"--size", std::to_string(size)});
  for (const std::string& name : request.without) words.insert(words.end(), {"--without", name});
  if (!request.api.empty()) words.insert(words.end(), {"--api", request.api});
  return words;
}

/// Throws an error if the process refused its input, or could not test the library.
void check_status(const ProcessEnd& end, const std::string& name) {
  if (end.child.code == static_cast<int>(ExitStatus::kUsage)) {
    throw UsageError(fmt::format("{}: {}", name, end.lines.last), "zerotax prove --help describes the options");
  }
  if (end.child.code == static_cast<int>(ExitStatus::kMachine)) {
    throw MachineError(fmt::format("{}: {}", name, end.lines.last), kRunAProgram);
  }
}

}  // namespace

Search search(const Allocator& allocator, const ProveRequest& request, const std::vector<std::uint64_t>& sizes,
              std::chrono::duration<double> time, const std::string& folder, const std::function<void()>& look) {
  const std::string record = folder + "/record";
  const ProcessEnd end = run_process(
      {allocator, arguments_of(request, sizes, time.count(), record), record + ".lines", time + kGrace}, look);
  Search search{end.lines, {}};
  if (stop_requested() && !search.lines.finding) {
    search.lines.is_interrupted = true;
    return search;
  }
  const bool has_exited = end.child.end == ChildResult::End::kExited;
  if (has_exited && !search.lines.finding) check_status(end, allocator.name);
  if (!has_exited || (end.child.code != 0 && !search.lines.finding)) {
    throw MachineError(fmt::format("{}: the process that makes the calls was {}", allocator.name,
                                   has_exited ? "ended by the library" : how_it_ended(end.child, time + kGrace)),
                       kRunAProgram);
  }
  std::error_code failure;
  if (search.lines.finding && std::filesystem::exists(record, failure)) search.record = read_record(record);
  return search;
}

}  // namespace zerotax::prove
