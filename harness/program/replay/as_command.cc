// Lets a recording take the place of a command: `check -- service.calls` checks the replay of the recording.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/names.h"
#include "files/folders.h"
#include "replay/calls_file.h"
#include "replay/process/prepared.h"
#include "replay/run.h"
#include "run/allocators.h"
#include "run/interrupt.h"
#include "run/program_launch.h"

namespace zerotax::replay {
namespace {

bool is_file_of_calls(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(sizeof record::kCallsMagic - 1, '\0');
  return fd && ::read(fd.get(), head.data(), head.size()) == static_cast<ssize_t>(head.size()) &&
         head == record::kCallsMagic;
}

/// Prepares a recording for replay-calls, which finds the prepared file by the device and inode of the recording.
std::string open_recording(const std::string& path) {
  static std::unique_ptr<TemporaryFolder> folder;
  static std::set<std::string> prepared;
  struct stat status {};
  ::stat(path.c_str(), &status);
  const std::string name = fmt::format("{}-{}", status.st_dev, status.st_ino);
  if (prepared.count(name) != 0) return replay_program();
  if (!folder) {
    folder = std::make_unique<TemporaryFolder>("replay");
    ::setenv(PREPARED_FOLDER_VARIABLE, folder->path().c_str(), 1);
  }
  check_fits(prepare(CallsFile(path), folder->file(name), false));
  prepared.insert(name);
  return replay_program();
}

const bool known = read_recordings_by(is_file_of_calls, open_recording);

/// Returns the built-in allocator that was recorded, with its settings.
std::vector<Allocator> recorded_allocator(const CallsFile& file, const std::string& path) {
  for (Allocator& each : replayed_allocators({}, {})) {
    if (file_name(*each.preload) != file.about().allocator) continue;
    for (const std::string& setting : file.about().env) {
      const EnvWord word = parse_env_word(each.name + ":" + setting);
      each.env[word.key] = word.value;
    }
    announce_variables(path, each.name, each.env, "record the program again without this setting");
    return {each};
  }
  throw UsageError(fmt::format("{} was recorded under {}, which is not built in", path, file.about().allocator),
                   "record the program under another allocator: zerotax record --allocator glibc --calls FILE -- "
                   "COMMAND");
}

}  // namespace

const char* wait_variable() { return WAIT_VARIABLE; }

std::size_t recorded_processes(const std::string& path) { return CallsFile(path).about().processes.size(); }

std::string checked_prediction(const std::string& path) {
  if (!is_file_of_calls(path)) return "";
  const CallsFile file(path);
  Plan plan;
  plan.allocators = recorded_allocator(file, path);
  plan.times = false;
  std::vector<Workload> workloads;
  if (!replay_calls({path}, plan, workloads)) throw Stop{};
  const Workload& replay = workloads.front();
  if (predicts_well(replay)) return replay.prediction;
  throw MachineError(fmt::format("no advice from {}: {}", path, replay.prediction),
                     "give the program itself after --, or another recording");
}

}  // namespace zerotax::replay
