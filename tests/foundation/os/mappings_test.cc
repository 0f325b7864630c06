#include "os/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <optional>

namespace zerotax {
namespace {

std::optional<Mapping> mapping_of(const void* address) {
  std::optional<Mapping> found;
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  EXPECT_TRUE(for_each_mapping([&](const Mapping& mapping) {
    if (wanted >= mapping.range.begin && wanted < mapping.range.end) found = mapping;
  }));
  return found;
}

TEST(Mappings, TellPrivateAnonymousMemoryFromTheRest) {
  void* own = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* shared = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const auto private_mapping = mapping_of(own);
  const auto shared_mapping = mapping_of(shared);
  const auto file_mapping = mapping_of(reinterpret_cast<const void*>(&mapping_of));
  ASSERT_TRUE(private_mapping && shared_mapping && file_mapping);
  EXPECT_TRUE(private_mapping->zero_filled());
  EXPECT_TRUE(private_mapping->writable);
  EXPECT_FALSE(shared_mapping->zero_filled());
  EXPECT_FALSE(file_mapping->zero_filled());
  EXPECT_FALSE(file_mapping->writable);
  ::munmap(own, page_bytes());
  ::munmap(shared, page_bytes());
}

TEST(Mappings, ComeInOrderAndWholeThoughThereAreMany) {
  // Alternating protections keep the kernel from merging the mappings, so that there are more lines than one read
  // returns.
  constexpr std::size_t kPages = 600;
  auto* memory = static_cast<char*>(
      ::mmap(nullptr, kPages * page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t page = 0; page < kPages; page += 2)
    ::mprotect(memory + page * page_bytes(), page_bytes(), PROT_READ);
  std::uintptr_t last = 0;
  std::size_t inside = 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for_each_mapping([&](const Mapping& mapping) {
    EXPECT_GE(mapping.range.begin, last);
    last = mapping.range.end;
    inside += mapping.range.intersect({begin, begin + kPages * page_bytes()}).bytes();
  });
  EXPECT_EQ(inside, kPages * page_bytes());
  ::munmap(memory, kPages * page_bytes());
}

}  // namespace
}  // namespace zerotax
