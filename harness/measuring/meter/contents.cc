#include "meter/contents.h"

#include <algorithm>
#include <cstring>

#include "os/mappings.h"

namespace zerotax {
namespace {

constexpr std::size_t kChunk = 256;

/// Whether a chunk is zero, in code simple enough for the compiler to vectorize.
bool chunk_is_zero(const unsigned char* bytes) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < kChunk; i += sizeof any) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    any |= word;
  }
  return any == 0;
}

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

/// Calls visit(page, part) for each populated page on which the range's part of the page is not all zero.
template <typename Visit>
void for_each_dirty_page(AddressRange range, const RangeList& populated, Visit visit) {
  for (const AddressRange& pages : populated) {
    for (std::uintptr_t page = pages.begin; page < pages.end; page += page_bytes()) {
      const AddressRange part = range.intersect({page, page + page_bytes()});
      if (part.bytes() > 0 && !all_zero(at(part.begin), part.bytes())) visit(page, part);
    }
  }
}

}  // namespace

std::size_t first_nonzero(const void* memory, std::size_t bytes) {
  const auto* data = static_cast<const unsigned char*>(memory);
  std::size_t offset = 0;
  while (bytes - offset >= kChunk && chunk_is_zero(data + offset)) offset += kChunk;
  while (offset < bytes && data[offset] == 0) ++offset;
  return offset;
}

bool all_zero(const void* memory, std::size_t bytes) { return first_nonzero(memory, bytes) == bytes; }

std::size_t dirty_bytes(AddressRange range, const RangeList& populated) {
  std::size_t dirty = 0;
  for_each_dirty_page(range, populated, [&](std::uintptr_t /*page*/, AddressRange part) { dirty += part.bytes(); });
  return dirty;
}

void find_dirty_pages(AddressRange range, const RangeList& populated, RangeList& dirty) {
  for_each_dirty_page(range, populated, [&](std::uintptr_t page, AddressRange /*part*/) {
    dirty.add({page, page + page_bytes()});
  });
}

std::size_t check_zero(const void* block, std::size_t bytes, const Pagemap& pagemap, RangeList& scratch) {
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const AddressRange range{begin, begin + bytes};
  std::size_t guaranteed = 0;
  for_each_mapping([&](const Mapping& mapping) {
    if (mapping.zero_filled()) guaranteed += mapping.range.intersect(range).bytes();
  });
  scratch.clear();
  if (guaranteed != bytes || !pagemap.populated({page_floor(begin), page_ceiling(range.end)}, scratch)) {
    return first_nonzero(block, bytes);
  }
  for (const AddressRange& pages : scratch) {
    const AddressRange part = range.intersect(pages);
    const std::size_t offset = first_nonzero(at(part.begin), part.bytes());
    if (offset < part.bytes()) return part.begin + offset - begin;
  }
  return bytes;
}

}  // namespace zerotax
