#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "os/regular_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// The file in which a process names the code that it generates, /tmp/perf-PID.map. If the process is in a container,
/// its /tmp and its PID there differ from ours. Source: tools/perf/Documentation/jit-interface.txt of Linux. Once
/// found, the file stays open, so that it can be read even after the process has ended. The file must belong to the
/// process's user or to root, and be a regular file that not everybody may write. The file must have been written since
/// the process began. Otherwise any user who may write to /tmp could name our frames. The file is opened with the
/// rights of the process's user.
class PerfMapFile {
 public:
  /// Maximum bytes to read, more than any interpreter writes in a day. Bytes beyond this limit are ignored.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  /// Finds the map of a process, preferably while the process runs. An ended process is assumed to have had our user
  /// and containers. `not_before_s` is the start time of an ended process, in seconds since 1970, or 0 if the process
  /// started after us.
  explicit PerfMapFile(pid_t pid, std::int64_t not_before_s = 0);

  enum class Read {
    kNothing,  ///< no new text, or no such file
    kMore,
    kAnew,  ///< the file was restarted, so that the text read before is no longer valid
  };
  /// Appends to `text` what was written since the last call.
  Read read(std::string& text);

  /// Returns the path under which the process sees the file, such as "/tmp/perf-4711.map".
  [[nodiscard]] std::string path() const { return "/tmp/" + name_; }
  [[nodiscard]] bool found() const { return static_cast<bool>(fd_); }
  /// Returns why an existing file is not read, or not read to its end; "" if neither is the case.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool open();

  UniqueFd folder_;  ///< stays open after the process's mounts are gone
  FileUser user_;
  std::int64_t not_before_s_;
  std::string name_;
  std::string problem_;
  UniqueFd fd_;
  std::uint64_t offset_ = 0;
  unsigned begun_again_ = 0;
};

}  // namespace zerotax
