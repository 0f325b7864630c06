// A recording in place of a command: `check -- service.calls` checks its replay.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "files/temporary_folder.h"
#include "replay/calls_file.h"
#include "replay/process/prepared.h"
#include "replay/run.h"
#include "run/program_launch.h"

namespace zerotax::replay {
namespace {

bool is_recording(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(sizeof record::kCallsMagic - 1, '\0');
  return fd && ::read(fd.get(), head.data(), head.size()) == static_cast<ssize_t>(head.size()) &&
         head == record::kCallsMagic;
}

/// Prepares a recording for replay-calls, which finds it by the identity of the file that it is called as.
std::string open_recording(const std::string& path) {
  if (!is_recording(path)) return "";
  static std::unique_ptr<TemporaryFolder> folder;
  static std::set<std::string> prepared;
  struct stat status{};
  const CallsFile file(path);
  ::stat(path.c_str(), &status);
  const std::string name = fmt::format("{}-{}", status.st_dev, status.st_ino);
  if (!folder) {
    folder = std::make_unique<TemporaryFolder>("replay");
    ::setenv(PREPARED_FOLDER_VARIABLE, folder->path().c_str(), 1);
  }
  if (prepared.insert(name).second) check_fits(prepare(file, folder->file(name), false));
  return replay_program();
}

const bool known = read_recordings_by(open_recording);

}  // namespace
}  // namespace zerotax::replay
