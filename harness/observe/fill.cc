#include "observe/fill.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "os/unique_fd.h"

namespace zerotax {
namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{2} << 20;

/// Calls memset and returns what is then in rsi.
std::uint64_t left_in_register(void* block, std::uint64_t value, std::size_t bytes) {
  void* (*volatile function)(void*, int, std::size_t) = std::memset;
  void* (*target)(void*, int, std::size_t) = function;
  // Below the red zone, and as aligned as any call.
  asm volatile(
      "mov %%rsp, %%rbx\n"
      "sub $256, %%rsp\n"
      "and $-64, %%rsp\n"
      "call *%[target]\n"
      "mov %%rbx, %%rsp\n"
      : "+D"(block), "+S"(value), "+d"(bytes), [target] "+r"(target)
      :
      : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
  return value;
}

bool keeps(void* block, std::size_t bytes) {
  return fill_of_register(left_in_register(block, 0, bytes)) == Fill::kZeros &&
         fill_of_register(left_in_register(block, 7, bytes)) == Fill::kOther;
}

/// 64 MiB of addresses with 2 MiB of memory behind them.
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
  // Of wmemset, whose wide characters are filled by the same code.
  return (value & 0xffffffff) == 0 ? Fill::kZeros : Fill::kUnknown;
}

}  // namespace zerotax
