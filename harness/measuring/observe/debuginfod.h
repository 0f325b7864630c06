#pragma once

#include <cstdint>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// Downloads debug files from the servers that DEBUGINFOD_URLS names. Without this variable, nothing is downloaded.
/// Uses elfutils' libdebuginfod, if installed. Like libdwfl, this class loads libdebuginfod at the first download.
/// libdebuginfod keeps the files in the user's cache (debuginfod_find_debuginfo(3)).
class Debuginfod {
 public:
  /// `most_ns` is the time limit for all downloads together. A download is aborted when the limit is reached.
  explicit Debuginfod(std::int64_t most_ns = 30'000'000'000) : left_ns_(most_ns) {}

  /// Returns the debug file for a build-id in hexadecimal, or nothing if no server has it.
  UniqueFd find(const std::string& build_id);
  /// Reason why downloads have stopped; empty while they continue.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::int64_t left_ns_;
  std::string problem_;
};

}  // namespace zerotax
