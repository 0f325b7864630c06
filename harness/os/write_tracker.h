#pragma once

#include <cstddef>

#include "os/page.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Finds which pages were written, by whatever instruction: userfaultfd in asynchronous write-protect mode (Linux
/// >= 6.7), which an unprivileged process may use for its own user-mode writes. Every write to a watched page costs a
/// fault. Source: Documentation/admin-guide/mm/userfaultfd.rst, UFFD_FEATURE_WP_ASYNC. Allocates nothing.
class WriteTracker {
 public:
  WriteTracker();

  [[nodiscard]] bool available() const { return static_cast<bool>(fd_); }
  /// Why it is not available; empty otherwise.
  [[nodiscard]] const char* reason() const { return reason_; }

  /// Begins to watch the private anonymous memory in `range` (page aligned); what is not mapped is skipped. Pages
  /// that are populated are write-protected; the others are left as they are, for the mark of a protected page that is
  /// not populated looks like a swapped page: they count as written once they are populated.
  /// May be called for several ranges, which must not overlap. Beyond 64 pieces further ones are not watched.
  void watch(AddressRange range, const Pagemap& pagemap);

  /// Forgets what was written to these pages until now, and watches them, whether or not it did before.
  void watch_again(AddressRange range, const Pagemap& pagemap);

  /// Whether all of these pages are being watched, and whether any of such pages was written.
  [[nodiscard]] bool is_watched(AddressRange range) const;
  static bool is_written(const Pagemap& pagemap, AddressRange range);

  /// Stops watching the pages of `range`: their writes from now on are of no interest.
  void release(AddressRange range);

  /// Adds to `watched` the pages of `range` (page aligned) that are being watched.
  void watched(AddressRange range, RangeList& watched) const;

  /// Adds to `written` those of them that were written.
  void written(const Pagemap& pagemap, AddressRange range, RangeList& written) const;

  /// Stops watching everything.
  void stop();

 private:
  void watch_mapped(AddressRange range, const Pagemap& pagemap);
  [[nodiscard]] bool protect(AddressRange range) const;
  void unregister(AddressRange range) const;
  template <typename Visit>
  void for_each_watched(AddressRange range, Visit visit) const;

  static constexpr std::size_t kPieces = 64;
  UniqueFd fd_;
  const char* reason_ = "";
  AddressRange pieces_[kPieces];
  std::size_t count_ = 0;
};

}  // namespace zerotax
