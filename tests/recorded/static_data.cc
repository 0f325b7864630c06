// A program whose memory does not come from an allocator. The program writes 4 MiB of data without an initial value, 2
// MiB of data with an initial value, and 400 KiB of stack.
#include <cstddef>
#include <cstring>

#include "block.h"

namespace {
unsigned char zeroed[4 << 20];
unsigned char copied[2 << 20] = {1};
}  // namespace

int main() {
  unsigned char stack[400 << 10];
  std::memset(&zeroed[0], 7, sizeof zeroed);
  std::memset(&copied[0], 7, sizeof copied);
  std::memset(&stack[0], 7, sizeof stack);
  escape(&zeroed[0]);
  escape(&copied[0]);
  escape(&stack[0]);
  return 0;
}
