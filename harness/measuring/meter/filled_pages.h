#pragma once

#include "os/page.h"

namespace zerotax {

/// Adds up the pages of one block that were filled with zeros by stores that only the pages reveal. A page that the
/// block shares with a header or another block proves nothing by itself, for somebody else may have written there: it
/// counts when the page next to it, inside the block, was filled.
class FilledPages {
 public:
  explicit FilledPages(AddressRange block = {});

  /// The bytes that were filled in the part of the block on one page; `dirty`: over something other than zeros.
  void add(AddressRange part, std::size_t bytes, bool dirty);

  struct Bytes {
    std::size_t all = 0;
    std::size_t dirty = 0;  ///< of them, not zero before
  };
  [[nodiscard]] Bytes total() const;

  /// Whether bytes were filled, but only on pages shared with neighbours, because the block has no page of its own: the
  /// bytes may be the block's or its neighbours'.
  [[nodiscard]] bool is_doubtful() const;
  /// Whether the block has no page of its own.
  [[nodiscard]] bool has_no_page() const { return whole_.bytes() == 0; }

 private:
  AddressRange whole_;  ///< the pages that are the block's own
  Bytes inside_;
  Bytes head_;
  Bytes tail_;
  bool first_filled_ = false;
  bool last_filled_ = false;
};

}  // namespace zerotax
