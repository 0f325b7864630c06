#pragma once

#include <cstdint>
#include <string>

#include "files/new_file.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Writes each line with its line break as soon as it is complete. The lines go to a pipe, to "-" (standard output), or
/// to a new file, which takes its place with its first line.
class LineFile {
 public:
  /// Throws UsageError if the file cannot be written.
  explicit LineFile(const std::string& path) : path_(path), file_(path) {}
  /// Throws UsageError if not all of it could be written; std::system_error with EPIPE if the reader has gone.
  void add(const std::string& line);

 private:
  std::string path_;
  NewFile file_;
  std::uint64_t written_ = 0;  ///< bytes of whole lines
};

/// Lines that are added to a file for days. The file and FILE.1, which it becomes when it is half as large as
/// permitted, together never exceed the limit. Each line is written at once, so that a writer that is killed leaves
/// whole lines; an incomplete last line of an earlier one, as after a crash of the machine, is cut off.
class BoundedLog {
 public:
  /// `most`: bytes of both files. Throws UsageError if the file cannot be written, is not a regular file, or is written
  /// by another process.
  BoundedLog(std::string path, std::uint64_t most);
  /// Throws UsageError if it cannot be written, or the line alone is longer than a file may be.
  void add(const std::string& line);

 private:
  void open();
  void rotate();

  std::string path_;
  std::uint64_t most_;  ///< of each file
  std::uint64_t size_ = 0;
  UniqueFd fd_;
};

}  // namespace zerotax
