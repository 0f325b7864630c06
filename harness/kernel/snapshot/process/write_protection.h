#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/page.h"
#include "os/unique_fd.h"

namespace snapshot {

/// Write protection by userfaultfd (Linux 5.7): a thread that writes to a protected page waits, and a message reports
/// it. Of writes in user mode, so that no privilege is needed (UFFD_USER_MODE_ONLY, Linux 5.11).
/// Source: Documentation/admin-guide/mm/userfaultfd.rst.
class WriteProtection {
 public:
  WriteProtection();

  /// Why it is unavailable here; empty if it is available.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Throw std::runtime_error.
  void protect(zerotax::AddressRange range);
  /// Also lets the writers that wait there resume.
  void release(zerotax::AddressRange range) const;
  /// The address of a write that waits; nothing if there was none for some milliseconds.
  [[nodiscard]] std::optional<std::uintptr_t> next_write() const;

 private:
  zerotax::UniqueFd fd_;
  std::string why_not_;
};

}  // namespace snapshot
