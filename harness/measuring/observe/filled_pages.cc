#include "observe/filled_pages.h"

#include "os/page.h"

namespace zerotax {

bool FilledPages::add(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t size = page_bytes();
  const std::uint64_t first = address / bytes * bytes / size;  // a huge page begins before the address
  const std::uint64_t asked = address / size;
  const bool known = regions_[asked / kPages].test(asked % kPages);
  for (std::uint64_t page = first; page < first + bytes / size; ++page) {
    regions_[page / kPages].set(page % kPages);
  }
  return known;
}

}  // namespace zerotax
