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

/// One event of a process, checked for itself.
struct Event {
  record::EventKind kind{};
  std::uint32_t thread = 0;
  std::uint64_t first = 0;
  std::uint64_t second = 0;  ///< the alignment's logarithm of kAligned, the bytes of kRealloc
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      ranges;  ///< of kTouched, and one of kReturn and kHuge: first page, pages
};

/// Whether an event of this kind makes a block: those are numbered in the order of their events.
inline bool makes_block(record::EventKind kind) {
  using enum record::EventKind;
  return kind == kMalloc || kind == kCalloc || kind == kAligned || kind == kRealloc || kind == kMap;
}

/// A file of record --calls that is of a machine with another size of pages.
class OtherPages : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A file of record --calls, opened to be read. Its functions throw UsageError for a damaged file, with its name and
/// the place of the damage.
class CallsFile {
 public:
  explicit CallsFile(const std::string& path);

  [[nodiscard]] const record::CallsAbout& about() const { return about_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Calls visit(event) for each event of a process, in their order.
  void for_each(std::size_t process, const std::function<void(const Event& event)>& visit) const;

  /// "x.calls is damaged (process 2, event 17): why".
  [[noreturn]] void damaged(const std::string& where, const std::string& why) const;

 private:
  struct Part {
    std::uint64_t offset;  ///< of what is stored
    record::CallsPart head;
  };
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::string unpacked(const Part& part) const;
  void read_parts();
  void check_about();

  std::string path_;
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  std::vector<std::vector<Part>> parts_;  ///< by process
  record::CallsAbout about_;
};

}  // namespace zerotax::replay
