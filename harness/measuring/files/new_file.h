#pragma once

#include <string>
#include <string_view>

#include "os/unique_fd.h"

namespace zerotax {

/// Throws UsageError with the reason why a file could not be written. `reason` is an errno.
[[noreturn]] void cannot_write(const std::string& path, int reason);

/// A file that is being written. When the new file is complete, it replaces the file at its path. Until then, the old
/// file stays, even after a failure, a kill or a full disk. If the path is a link, the link stays and its target is
/// replaced. "-" is standard output. Anything but a regular file (a pipe, /dev/null, /dev/stdout) is written directly,
/// at once.
class NewFile {
 public:
  /// Throws UsageError, which names the cause, if the file cannot be written.
  explicit NewFile(std::string path);
  /// Removes the file unless one of the keep functions was called.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Whether the file will replace the file at its path. False if the file is written directly.
  [[nodiscard]] bool takes_place() const { return !target_.empty(); }
  /// Throws UsageError if the text could not be written completely.
  void add(std::string_view text);
  /// Replaces the file at the path. Throws UsageError if a file that may not be replaced has appeared there; the new
  /// file then stays beside that file.
  void keep();
  /// Keeps the new file beside the path, and returns its name.
  std::string keep_beside();
  /// Keeps a file that could not be completed: at its path if no file is there, else beside the path. Returns the
  /// file's name.
  std::string keep_part();

  /// Keeps a pipe open for the next NewFile of this path. Closing and reopening the pipe would signal its end to the
  /// reader.
  void hold_pipe();

 private:
  void give_name();

  std::string path_;
  std::string target_;     ///< the path of the file to replace; empty if the file is written directly
  std::string temporary_;  ///< the current name; empty if the file has no name
  UniqueFd fd_;
};

}  // namespace zerotax
