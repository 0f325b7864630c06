#include "meter/filled_pages.h"

namespace zerotax {

FilledPages::FilledPages(AddressRange block) {
  const AddressRange inner{page_ceiling(block.begin), page_floor(block.end)};
  if (inner.begin < inner.end) whole_ = inner;
}

void FilledPages::add(AddressRange part, std::size_t bytes, bool dirty) {
  const bool shared = part.bytes() < page_bytes();
  Bytes& filled = !shared ? inside_ : part.begin < whole_.begin ? head_ : tail_;
  filled.all += bytes;
  if (dirty) filled.dirty += bytes;
  if (shared) return;
  first_filled_ = first_filled_ || part.begin == whole_.begin;
  last_filled_ = last_filled_ || part.end == whole_.end;
}

FilledPages::Bytes FilledPages::total() const {
  Bytes sum = inside_;
  if (first_filled_) sum = {sum.all + head_.all, sum.dirty + head_.dirty};
  if (last_filled_) sum = {sum.all + tail_.all, sum.dirty + tail_.dirty};
  return sum;
}

bool FilledPages::is_doubtful() const { return has_no_page() && head_.all + tail_.all > 0; }

}  // namespace zerotax
