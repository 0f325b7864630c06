// Allocates small blocks that stay, in two functions. Usage: nodes COUNT BYTES. The function keep_three allocates about
// three of four blocks, and keep_one the rest. The order of the calls has no pattern, so it depends on chance
// which block is the first on a page. All blocks are written, so that the kernel zeroes COUNT x BYTES, three quarters
// of them for keep_three. Between these blocks, the function churn repeatedly allocates and frees a block of half that
// size. These blocks need only one page.
#include <cstdint>
#include <cstdlib>

#include "block.h"

namespace {

void* got(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  escape(block);
  std::memset(block, 7, bytes);
  return block;
}

// NOLINTBEGIN(clang-analyzer-unix.Malloc): they keep it
__attribute__((noinline)) void keep_three(std::size_t bytes) { escape(got(bytes)); }
__attribute__((noinline)) void keep_one(std::size_t bytes) { escape(got(bytes)); }
// NOLINTEND(clang-analyzer-unix.Malloc)
__attribute__((noinline)) void churn(std::size_t bytes) { std::free(got(bytes)); }

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const unsigned long blocks = std::strtoul(words[1], nullptr, 10);
  const std::size_t bytes = std::strtoul(words[2], nullptr, 10);
  std::uint64_t chance = 1;
  for (unsigned long i = 0; i < blocks; ++i) {
    chance = chance * 6364136223846793005U + 1442695040888963407U;
    if (chance >> 62 == 0) {
      keep_one(bytes);
    } else {
      keep_three(bytes);
    }
    churn(bytes / 2);
    churn(bytes / 2);
  }
  return 0;
}
