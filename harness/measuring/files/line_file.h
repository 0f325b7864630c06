#pragma once

#include <cstdint>
#include <string>

#include "files/new_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Writes each line and its line break as soon as the line is complete. The destination is a pipe, "-" (standard
/// output), or a new file. A new file replaces the old file when the first line is written.
class LineFile {
 public:
  /// Throws UsageError if the file cannot be written.
  explicit LineFile(const std::string& path) : path_(path), file_(path) {}
  /// Throws UsageError if the line could not be written completely, and std::system_error with EPIPE if the reader has
  /// closed the pipe.
  void add(const std::string& line);

 private:
  std::string path_;
  NewFile file_;
  std::uint64_t written_ = 0;  ///< bytes of complete lines
};

/// A log to which lines are added for days. When the file reaches half of the permitted size, it is renamed to FILE.1;
/// both files together never exceed the limit. Each line is written at once, so a killed writer leaves only complete
/// lines. If the last line is incomplete, as after a crash of the machine, it is cut off.
class BoundedLog {
 public:
  /// `most` is the limit in bytes for both files together. Throws UsageError if the file cannot be written, is not a
  /// regular file, or is being written by another process.
  BoundedLog(std::string path, std::uint64_t most);
  /// Throws UsageError if the line cannot be written, or is longer than one file may be.
  void add(const std::string& line);

 private:
  void open();
  void rotate();

  std::string path_;
  std::uint64_t most_;  ///< limit of each file, in bytes
  std::uint64_t size_ = 0;
  UniqueFd fd_;
};

}  // namespace zerotax
