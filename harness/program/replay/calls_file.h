#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "os/unique_fd.h"
#include "record/calls/format.h"
#include "record/calls/result.h"

namespace zerotax::replay {

/// One event of a process. Each number of the event was checked alone, but not against other events.
struct Event {
  record::EventKind kind{};
  std::uint32_t thread = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;  ///< kAligned: binary logarithm of the alignment; kRealloc: size in bytes
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      ranges;  ///< first page and number of pages of each range; one range for kReturn and kHuge, any number for
               ///< kTouched
};

/// Whether an event of this kind begins a block. Blocks are numbered in the order of these events.
inline bool makes_block(record::EventKind kind) {
  using enum record::EventKind;
  return kind == kMalloc || kind == kCalloc || kind == kAligned || kind == kRealloc || kind == kMap;
}

/// Thrown if the recording was made on a machine with another page size.
class OtherPages : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A file of record --calls, opened for reading. If the file is damaged, the functions throw UsageError, which names
/// the file and the damaged position.
class CallsFile {
 public:
  explicit CallsFile(const std::string& path);

  [[nodiscard]] const record::CallsAbout& about() const { return about_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Calls visit(event) for each event of a process, in order.
  void for_each(std::size_t process, const std::function<void(const Event& event)>& visit) const;

  /// Throws UsageError with a text such as "x.calls is damaged (process 2, event 17): why".
  [[noreturn]] void damaged(const std::string& where, const std::string& why) const;

 private:
  struct Part {
    std::uint64_t offset;  ///< offset of the part's stored bytes
    record::CallsPart head;
  };
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::string unpacked(const Part& part) const;
  void read_parts();
  void check_about();

  std::string path_;
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::vector<std::vector<Part>> parts_;  ///< parts of each process
  record::CallsAbout about_;
};

}  // namespace zerotax::replay
