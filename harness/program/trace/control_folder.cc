#include "trace/control_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/error.h"
#include "format/control_file.h"
#include "os/process_info.h"

namespace zerotax::trace {
namespace {

constexpr const char* kGivePid = "give --pid the PID of a running program (see ps)";

/// The variable in the environment that the process was started with. Throws MachineError if that may not be read.
std::optional<std::string> variable_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const int failure = file ? 0 : errno;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (failure == EACCES || failure == EPERM || file.bad()) {
    const auto facts = process_facts(pid);
    const bool others = ::geteuid() != 0 && facts && facts->user != ::geteuid();
    const char* why = std::strerror(failure != 0 ? failure : EACCES);
    throw MachineError(others ? fmt::format("process {} belongs to another user", pid)
                              : fmt::format("the environment of process {} may not be read: {}", pid, why),
                       others ? "run zerotax as that user or as root, or name its control folder with --control"
                              : "name its control folder with --control");
  }
  const std::string wanted = std::string(recorder::kControlVariable) + "=";
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    if (text.compare(at, wanted.size(), wanted) == 0) return std::string(text.c_str() + at + wanted.size());
    if (text.find('\0', at) == std::string::npos) break;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t check_controllable(pid_t pid) {
  const auto facts = process_facts(pid);
  if (!facts) throw UsageError(fmt::format("there is no process {}", pid), kGivePid);
  if (facts->process != pid) {
    throw UsageError(fmt::format("{} is a thread of process {}", pid, facts->process),
                     fmt::format("give --pid {}", facts->process));
  }
  if (facts->state == 'Z' || facts->state == 'X') throw UsageError(fmt::format("process {} has ended", pid), kGivePid);
  return facts->start_ticks;
}

std::string control_path(pid_t pid, const std::string& folder) {
  std::string found = folder;
  if (found.empty()) {
    if (const char* own = std::getenv(recorder::kControlVariable); own != nullptr) found = own;
  }
  if (found.empty()) {
    found = variable_of(pid).value_or("");
    if (found.empty()) {
      throw UsageError(fmt::format("process {} cannot be controlled", pid),
                       fmt::format("start it with {}=FOLDER, linked with the recorder or with it preloaded",
                                   recorder::kControlVariable));
    }
    if (found.front() != '/') found = fmt::format("/proc/{}/cwd/{}", pid, found);
  }
  return fmt::format("{}/{}{}", found, recorder::kControlPrefix, pid);
}

void refuse_control_file(pid_t pid, const std::string& path, int failure) {
  if (failure == EACCES || failure == EPERM || failure == EROFS) {
    throw MachineError(fmt::format("you may not control process {}: '{}': {}", pid, path, std::strerror(failure)),
                       "run zerotax as its user or as root, or ask for the right to write to that file");
  }
  if (failure == ENOENT || failure == ENOTDIR) {
    throw UsageError(
        fmt::format("process {} has no recorder that can be controlled", pid),
        fmt::format("start it with {}=FOLDER, linked with the recorder or with it preloaded; a forked child "
                    "has no control of its own",
                    recorder::kControlVariable));
  }
  throw UsageError(fmt::format("'{}' cannot be used: {}", path, std::strerror(failure)),
                   "name the control folder of the process with --control");
}

}  // namespace zerotax::trace
