#pragma once

#include <cstddef>
#include <optional>

#include "os/page.h"
#include "os/pagemap.h"
#include "os/range_list.h"
#include "os/unique_fd.h"

namespace zerotax {

/// For WriteTracker: pages that were written before the soft-dirty bits were cleared last, and room for the next such
/// list. (Not a member of it: clang knows the defaults of a nested class only where the outer one ends.)
struct SoftDirtyLists {
  RangeList remembered[2];
  std::size_t current = 0;
  RangeList scratch;
  RangeList other_scratch;
};

/// Finds which pages were written, by whatever instruction. Every first write to a watched page costs a fault. Needs no
/// privilege. Allocates nothing. There are two methods:
///
/// - userfaultfd in asynchronous write-protect mode (Linux >= 6.7; UFFD_FEATURE_WP_ASYNC in
///   Documentation/admin-guide/mm/userfaultfd.rst), of the watched ranges alone;
/// - soft-dirty bits (Documentation/admin-guide/mm/soft-dirty.rst; Debian's kernels keep them), which can only be
/// cleared
///   for the whole process: what was written before is remembered here. A mapping that is new has them set, and so has
///   one that the kernel merges with it: a watched range gets a flag of its own (MADV_RANDOM, which changes nothing
///   else for anonymous memory), so that none is merged.
class WriteTracker {
 public:
  enum class Method { kNone, kAsynchronous, kSoftDirty };

  /// Takes the first method that works here. ZEROTAX_WRITE_TRACKING=soft-dirty|none in the environment limits the
  /// choice, so that a fallback can be compared on a kernel that does not need it.
  WriteTracker();

  [[nodiscard]] Method method() const { return method_; }
  [[nodiscard]] bool available() const { return method_ != Method::kNone; }
  /// Its name in results, "userfaultfd, asynchronous"; or why it is not available.
  [[nodiscard]] const char* name() const;
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
  bool is_written(const Pagemap& pagemap, AddressRange range) const;

  /// Stops watching the pages of `range`: their writes from now on are of no interest.
  void release(AddressRange range);

  /// Adds to `watched` the pages of `range` (page aligned) that are being watched.
  void watched(AddressRange range, RangeList& watched) const;

  /// Adds to `written` those of them that were written.
  void written(const Pagemap& pagemap, AddressRange range, RangeList& written) const;

  /// Stops watching everything.
  void stop();

 private:
  [[nodiscard]] const char* open_asynchronous();
  [[nodiscard]] const char* open_soft_dirty();
  void watch_mapped(AddressRange range, const Pagemap& pagemap);
  void add_piece(AddressRange range);
  /// From now on these pages count as not written; what else was is remembered.
  bool forget_writes(AddressRange range, const Pagemap& pagemap);
  [[nodiscard]] bool protect(AddressRange range) const;
  void unregister(AddressRange range) const;
  template <typename Visit>
  void for_each_watched(AddressRange range, Visit visit) const;

  static constexpr std::size_t kPieces = 64;
  Method method_ = Method::kNone;
  UniqueFd fd_;  ///< userfaultfd's, or /proc/self/clear_refs
  const char* reason_ = "";
  AddressRange pieces_[kPieces];
  std::size_t count_ = 0;
  mutable std::optional<SoftDirtyLists> soft_dirty_;  ///< made for this method alone: each list is a mapping
};

}  // namespace zerotax
