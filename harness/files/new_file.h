#pragma once

#include <string>
#include <string_view>

#include "os/unique_fd.h"

namespace zerotax {

/// A file that is being written. It has no place until it is whole, and then takes that of its path: what was there
/// stays until then, and after a failure, a kill or on a full disk. A link stays, and what it leads to is replaced.
///
/// "-" is standard output; what is not a regular file (a pipe, /dev/null, /dev/stdout) is written in place, at once.
class NewFile {
 public:
  /// Throws UsageError naming the cause if it cannot be written.
  explicit NewFile(std::string path);
  /// Without a keep, nothing remains.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Whether it is to take a place: not what is written in place.
  [[nodiscard]] bool takes_place() const { return !target_.empty(); }
  /// Throws UsageError.
  void add(std::string_view text);
  /// Takes its place. Throws UsageError: it stays beside where a file came meanwhile that may not be replaced.
  void keep();
  /// Stays beside the place, in a file whose name is returned.
  std::string keep_beside();
  /// For a file that could not be finished: takes the place if it is free, and stays beside otherwise. Returns its
  /// name.
  std::string keep_part();

  /// A pipe stays open for the next NewFile of this path: reopened, it would end for its reader in between.
  void hold_pipe();

 private:
  void give_name();

  std::string path_;
  std::string target_;     ///< what it is to replace; empty: it is written in place
  std::string temporary_;  ///< its name until then; empty: it has none
  UniqueFd fd_;
};

}  // namespace zerotax
