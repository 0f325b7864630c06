#include "record/resident/division.h"

#include <gtest/gtest.h>

namespace zerotax::record {
namespace {

const std::uint64_t kPage = page_bytes();
const std::uintptr_t kBase = std::uintptr_t{64} << 20;

/// A heap of ten resident pages without marks.
HeldMemoryMap ten_pages(const char* name) {
  HeldMemoryMap memory;
  memory.is_glibc = true;
  memory.mappings.push_back({.begin = kBase, .mapped = 12 * kPage, .name = name});
  memory.resident.push_back({kBase, kBase + 10 * kPage});
  memory.marks[kBase / kPage / kLeafPages].resize(kLeafPages);
  return memory;
}

void mark(HeldMemoryMap& memory, std::size_t first, std::size_t end, std::uint16_t mark) {
  for (std::size_t page = first; page < end; ++page) {
    const std::uintptr_t number = kBase / kPage + page;
    memory.marks[number / kLeafPages][number % kLeafPages] = mark;
  }
}

TEST(Division, GivesEachByteToOnePart) {
  HeldMemoryMap memory = ten_pages("[heap]");
  mark(memory, 0, 4, kFirstSite + 7);
  mark(memory, 4, 5, kOfAllocator);
  mark(memory, 5, 7, kOfStack);
  mark(memory, 7, 8, kOfProgram);
  memory.blocks = {{kBase + kPage / 2, kPage, 3}};
  const Division division = divide(memory);
  const MemoryParts& parts = division.parts;
  EXPECT_EQ(parts.resident_bytes, 10 * kPage);
  EXPECT_EQ(parts.live_bytes, kPage);
  EXPECT_EQ(parts.fragmented_bytes, kPage);
  EXPECT_EQ(parts.free_bytes, 2 * kPage);
  EXPECT_EQ(parts.stack_bytes, 2 * kPage);
  EXPECT_EQ(parts.other_bytes, kPage);
  EXPECT_EQ(parts.allocator_bytes, 3 * kPage);  // two pages of the heap have no mark
  EXPECT_EQ(division.freed.at(7), 2 * kPage);
  EXPECT_EQ(division.holders.at(3).pages, 2U);
  EXPECT_EQ(division.holders.at(3).blocks, 1U);
}

TEST(Division, NamesTheBlockAboveAHole) {
  HeldMemoryMap memory = ten_pages("");
  mark(memory, 0, 10, kFirstSite + 1);
  memory.blocks = {{kBase, 16, 1}, {kBase + 6 * kPage + 32, 40, 2}};
  const Division division = divide(memory);
  EXPECT_EQ(division.parts.free_bytes, 8 * kPage);
  const Holder& holder = division.holders.at(2);
  EXPECT_EQ(holder.below_bytes, 5 * kPage);
  EXPECT_EQ(holder.smallest, 40U);
  EXPECT_EQ(holder.free_bytes, kPage - 40);
  const DividedHeap& heap = division.heaps.at("thread heap 1");
  EXPECT_EQ(heap.last.site, 2U);
  EXPECT_EQ(heap.below_last, 5 * kPage);
}

TEST(Division, TakesOfferedBytesFromFreePagesFirst) {
  HeldMemoryMap memory = ten_pages("");
  mark(memory, 0, 2, kOfAllocator);
  mark(memory, 2, 6, kFirstSite);
  mark(memory, 6, 10, kOfProgram);
  memory.mappings[0].lazy = 5 * kPage;
  const MemoryParts parts = divide(memory).parts;
  EXPECT_EQ(parts.offered_bytes, 5 * kPage);
  EXPECT_EQ(parts.free_bytes, 0U);
  EXPECT_EQ(parts.allocator_bytes, kPage);
  EXPECT_EQ(parts.other_bytes, 4 * kPage);
}

TEST(Division, CountsNoPageTwiceIfBlocksOverlap) {
  HeldMemoryMap memory = ten_pages("[heap]");
  mark(memory, 0, 10, kFirstSite);
  memory.blocks = {{kBase, 8 * kPage, 1}, {kBase + kPage, kPage, 2}};
  const MemoryParts parts = divide(memory).parts;
  EXPECT_EQ(parts.live_bytes, 8 * kPage);
  EXPECT_EQ(parts.live_bytes + parts.free_bytes, parts.resident_bytes);
}

TEST(Division, LeavesMemoryOutsideMappingsOut) {
  HeldMemoryMap memory = ten_pages("");
  memory.resident = {{kBase - kPage, kBase}, {kBase + 11 * kPage, kBase + 14 * kPage}};
  const MemoryParts parts = divide(memory).parts;
  EXPECT_EQ(parts.resident_bytes, kPage);
  EXPECT_EQ(parts.other_bytes, kPage);
}

}  // namespace
}  // namespace zerotax::record
