#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <string>

#include "os/unique_fd.h"

namespace zerotax {

/// The largest program, library or file of debug information that is opened. Debian's largest, that of Chromium, has
/// less than 3 GiB.
inline constexpr std::uint64_t kMostProgramBytes = std::uint64_t{4} << 30;

/// Which links of a path are followed.
enum class Links {
  kAll,         ///< every one, as open(2) does: for a path of our own choice
  kInsideRoot,  ///< those that the folder holds, as though it were the root folder
  kNone,
};

/// What is at a path, found but not opened (open(2), O_PATH). `folder`: as openat(2) has it; for other links than kAll
/// it is the root folder that no part of the path leaves.
UniqueFd find_path(int folder, const std::string& path, Links links);

/// A regular file, open for reading; or the reason why it is not, which is empty if there is no such file.
struct RegularFile {
  UniqueFd fd;
  std::string why;

  explicit operator bool() const { return static_cast<bool>(fd); }
};

/// Opens a file, if it is a regular one of at most `most_bytes`. Nothing else is ever opened, for the path may be
/// another user's choice: a pipe or a lease would hold us up, and a device may do something when it is opened.
/// `folder`, `links`: as for find_path().
RegularFile open_regular_file(int folder, const std::string& path, Links links, std::uint64_t most_bytes);

/// The same of a program or library by a path of our own choice.
UniqueFd open_program_file(const std::string& path);

/// Names one file among all, as long as it exists.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  auto operator<=>(const FileId&) const = default;  // NOLINT(modernize-use-nullptr): its own comparison with 0
  [[nodiscard]] bool known() const { return inode != 0; }
};
/// Names an open file; not known if there is none.
FileId file_id(int fd);
/// Names the file at a path, all links followed. It is not opened.
FileId file_id(const std::string& path);
/// Names what is at a path below a root folder, no link followed. It is not opened.
FileId file_id(int root, const std::string& path);

}  // namespace zerotax
