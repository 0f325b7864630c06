// Makes a buffer grow. Usage: grows STEPS BYTES. The buffer begins with BYTES bytes, which are written. In each step,
// realloc adds BYTES bytes, and the first half of the added bytes is written. One small block is allocated after each
// step, and all small blocks are freed at the end.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "block.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  const std::size_t steps = std::strtoul(words[1], nullptr, 10);
  const std::size_t bytes = std::strtoul(words[2], nullptr, 10);
  std::vector<void*> small(steps);
  auto* buffer = static_cast<char*>(std::malloc(bytes));
  std::memset(buffer, 7, bytes);
  for (std::size_t step = 1; step <= steps; ++step) {
    buffer = static_cast<char*>(std::realloc(buffer, (step + 1) * bytes));
    std::memset(buffer + step * bytes, 7, bytes / 2);
    escape(buffer);
    small[step - 1] = std::malloc(100);
    escape(small[step - 1]);
  }
  for (void* block : small) std::free(block);
  std::free(buffer);
  return 0;
}
