#pragma once

#include <cstddef>
#include <optional>

#include "os/page.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Lists for WriteTracker. One list contains the pages that were written before the soft-dirty bits were last cleared;
/// the other has room for the next such list. (This is no nested class, because clang knows the defaults of a nested
/// class only at the end of the outer class.)
struct SoftDirtyLists {
  RangeList remembered[2];
  std::size_t current = 0;
  RangeList scratch;
  RangeList other_scratch;
};

/// Finds which pages were written, by any instruction. The first write to each watched page costs a fault. Needs no
/// privilege. Allocates nothing. There are two methods:
///
/// - userfaultfd in asynchronous write-protect mode (since Linux 6.7; UFFD_FEATURE_WP_ASYNC in
/// Documentation/admin-guide/mm/userfaultfd.rst), for the watched ranges only;
/// - soft-dirty bits (Documentation/admin-guide/mm/soft-dirty.rst; Debian's kernels have them), which can only be
/// cleared for the whole process, so this class remembers which pages were written before.
///
/// All soft-dirty bits of a new mapping are set. If the kernel merges another mapping with the new one, all bits of
/// that mapping are set too. A watched range therefore gets an extra flag (MADV_RANDOM, which changes nothing else for
/// anonymous memory), so that the kernel does not merge the range.
class WriteTracker {
 public:
  enum class Method { kNone, kAsynchronous, kSoftDirty };

  /// Selects the first method that works on this machine. ZEROTAX_WRITE_TRACKING=soft-dirty|none in the environment
  /// limits the choice, so that a test can compare a fallback on any kernel.
  WriteTracker();

  [[nodiscard]] Method method() const { return method_; }
  [[nodiscard]] bool available() const { return method_ != Method::kNone; }
  /// Returns the method's name in results, such as "userfaultfd, asynchronous", or why no method is available.
  [[nodiscard]] const char* name() const;
  /// Returns why no method is available, or "" if one is.
  [[nodiscard]] const char* reason() const { return reason_; }

  /// Begins to watch the private anonymous memory in `range` (page aligned), skipping what is not mapped. Populated
  /// pages are write-protected. Unpopulated pages are left unprotected, because the marker of a protected, unpopulated
  /// page looks like a swapped page. Unpopulated pages count as written once they are populated. May be called for
  /// several ranges, which must not overlap. At most 64 pieces are watched; further pieces are ignored.
  void watch(AddressRange range, const Pagemap& pagemap);

  /// Forgets earlier writes to these pages, and watches them, whether or not they were watched before.
  void watch_again(AddressRange range, const Pagemap& pagemap);

  /// is_watched() returns whether all of these pages are watched. is_written() returns whether any watched page among
  /// these was written.
  [[nodiscard]] bool is_watched(AddressRange range) const;
  bool is_written(const Pagemap& pagemap, AddressRange range) const;

  /// Stops watching the pages of `range`, because later writes to them do not matter.
  void release(AddressRange range);

  /// Adds to `watched` the pages of `range` (page aligned) that are being watched.
  void watched(AddressRange range, RangeList& watched) const;

  /// Adds to `written` the watched pages of `range` that were written.
  void written(const Pagemap& pagemap, AddressRange range, RangeList& written) const;

  /// Stops watching everything.
  void stop();

 private:
  [[nodiscard]] const char* open_asynchronous();
  [[nodiscard]] const char* open_soft_dirty();
  void watch_mapped(AddressRange range, const Pagemap& pagemap);
  void add_piece(AddressRange range);
  /// Makes these pages count as not written from now on. Writes to other pages are remembered.
  bool forget_writes(AddressRange range, const Pagemap& pagemap);
  [[nodiscard]] bool protect(AddressRange range) const;
  void unregister(AddressRange range) const;
  template <typename Visit>
  void for_each_watched(AddressRange range, Visit visit) const;

  static constexpr std::size_t kPieces = 64;
  Method method_ = Method::kNone;
  UniqueFd fd_;  ///< descriptor of userfaultfd, or of /proc/self/clear_refs
  const char* reason_ = "";
  AddressRange pieces_[kPieces];
  std::size_t count_ = 0;
  mutable std::optional<SoftDirtyLists> soft_dirty_;  ///< made only for the soft-dirty method, because each list is a
                                                      ///< mapping
};

}  // namespace zerotax
