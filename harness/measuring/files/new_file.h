#pragma once

#include <string>
#include <string_view>

#include "os/unique_fd.h"

namespace zerotax {

/// Throws UsageError that says why a file could not be written: `reason` is an errno.
[[noreturn]] void cannot_write(const std::string& path, int reason);

/// A file that is being written. Once the file is whole, it takes the place of the file at its path. Until then, and
/// after a failure, a kill or on a full disk, the old file stays. A link stays, and the file that it leads to is
/// replaced.
///
/// "-" is standard output. Anything but a regular file (a pipe, /dev/null, /dev/stdout) is written in place, at once.
class NewFile {
 public:
  /// Throws UsageError naming the cause if the file cannot be written.
  explicit NewFile(std::string path);
  /// Without a call of keep, nothing remains.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Whether the file will take a place, that is, is not written in place.
  [[nodiscard]] bool takes_place() const { return !target_.empty(); }
  /// Throws UsageError.
  void add(std::string_view text);
  /// Takes the place. Throws UsageError if a file that may not be replaced has appeared there; then the new file stays
  /// beside it.
  void keep();
  /// Keeps the file beside the place, and returns its name.
  std::string keep_beside();
  /// For a file that could not be finished: takes the place if that is free, and stays beside it otherwise. Returns the
  /// file's name.
  std::string keep_part();

  /// Keeps a pipe open for the next NewFile of this path: closing and reopening the pipe would signal its end to the
  /// reader.
  void hold_pipe();

 private:
  void give_name();

  std::string path_;
  std::string target_;     ///< the path that the file will replace; empty: it is written in place
  std::string temporary_;  ///< the name until then; empty: the file has none
  UniqueFd fd_;
};

}  // namespace zerotax
