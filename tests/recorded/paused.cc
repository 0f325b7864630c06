// Pauses between frees. Usage: paused ROUNDS MILLISECONDS. In each round, eight blocks of 300,000 bytes are written and
// freed, with a pause before the last four frees. An allocator that purges after a delay purges at these frees.
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "block.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  constexpr std::size_t kBytes = 300'000;
  void* blocks[8];
  for (long round = std::strtol(words[1], nullptr, 10); round > 0; --round) {
    for (void*& block : blocks) {
      block = std::malloc(kBytes);
      std::memset(block, 1, kBytes);
      escape(block);
    }
    for (int i = 0; i < 4; ++i) std::free(blocks[i]);
    const timespec pause{0, std::strtol(words[2], nullptr, 10) * 1'000'000};
    ::nanosleep(&pause, nullptr);
    for (int i = 4; i < 8; ++i) std::free(blocks[i]);
  }
  return 0;
}
