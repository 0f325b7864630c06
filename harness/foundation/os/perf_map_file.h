#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// The file in which a process names the code that it makes while it runs: /tmp/perf-PID.map. /tmp and the PID are
/// those that the process sees, which differ from ours in a container. Source:
/// tools/perf/Documentation/jit-interface.txt of Linux. The file is kept open once it is found, so that it can be read
/// after the process's end, too. The file must belong to the process's user or to root, be a regular file that not
/// everybody may write to, and have been written since the process began. Otherwise anybody who may write to /tmp could
/// name our frames. The file is opened with the rights of the process's user.
class PerfMapFile {
 public:
  /// More than any interpreter writes in a day; what is beyond is not read.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  /// The map of a process, best opened while it runs. A process that has ended is taken to have been of our user and in
  /// our containers. `not_before_s`: when an ended one began, in seconds since 1970; 0: not before us.
  explicit PerfMapFile(pid_t pid, std::int64_t not_before_s = 0);

  enum class Read {
    kNothing,  ///< new, or there is no such file
    kMore,
    kAnew,  ///< the file was begun again: what was read before no longer counts
  };
  /// Adds what was written since the last call to `text`.
  Read read(std::string& text);

  /// "/tmp/perf-4711.map", as the process names it.
  [[nodiscard]] std::string path() const { return "/tmp/" + name_; }
  [[nodiscard]] bool found() const { return static_cast<bool>(fd_); }
  /// Why a file that is there is not read, or not to its end; empty otherwise.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool open();

  UniqueFd folder_;  ///< outlives the process's mounts
  FileUser user_;
  std::int64_t not_before_s_;
  std::string name_;
  std::string problem_;
  UniqueFd fd_;
  std::uint64_t offset_ = 0;
  unsigned begun_again_ = 0;
};

}  // namespace zerotax
