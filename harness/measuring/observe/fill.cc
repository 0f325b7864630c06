#include "observe/fill.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

#include "observe/sample_registers.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{2} << 20;

bool keeps(void* block, std::size_t bytes) {
  return fill_of_register(left_by_memset(block, 0, bytes)) == Fill::kZeros &&
         fill_of_register(left_by_memset(block, 7, bytes)) == Fill::kOther;
}

/// Maps 64 MiB of addresses to 2 MiB of memory.
void* large_block() {
  const UniqueFd memory(::memfd_create("zerotax-memset", MFD_CLOEXEC));
  if (!memory || ::ftruncate(memory.get(), kPiece) != 0) return nullptr;
  void* block = ::mmap(nullptr, kLargest, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  for (std::size_t at = 0; at < kLargest; at += kPiece) {
    if (::mmap(static_cast<char*>(block) + at, kPiece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory.get(),
               0) == MAP_FAILED) {
      ::munmap(block, kLargest);
      return nullptr;
    }
  }
  return block;
}

bool ask_memset() {
  void* block = large_block();
  if (block == nullptr) return false;
  bool kept = true;
  for (std::size_t bytes = 1; bytes <= 256; ++bytes) kept = kept && keeps(block, bytes);
  for (std::size_t bytes = 512; bytes <= kLargest; bytes *= bytes < kPiece ? 2 : 32) kept = kept && keeps(block, bytes);
  ::munmap(block, kLargest);
  return kept;
}

}  // namespace

bool memset_keeps_its_value() {
  static const bool kept = ask_memset();
  return kept;
}

Fill fill_of_register(std::uint64_t value) {
  if ((value & 0xff) != 0) return Fill::kOther;
  // wmemset, which fills with 32-bit characters, has the same code.
  return (value & 0xffffffff) == 0 ? Fill::kZeros : Fill::kUnknown;
}

}  // namespace zerotax
