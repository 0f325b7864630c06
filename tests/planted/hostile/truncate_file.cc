// Truncates the memory file behind the kept block to nothing and back.
#include <fcntl.h>
#include <unistd.h>

#include "hostile.h"

namespace {

int file = -1;

}  // namespace

void* planted::large_calloc(std::size_t bytes) {
  const auto whole = static_cast<off_t>(page_ceiling(bytes));
  void* block = take_kept(bytes);
  if (block == nullptr) {
    block = map_block(bytes);
    file = ::memfd_create("block", MFD_CLOEXEC);
    if (block == nullptr || ::ftruncate(file, whole) != 0) return nullptr;
    ::mmap(block, page_ceiling(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    return block;
  }
  if (::ftruncate(file, 0) != 0 || ::ftruncate(file, whole) != 0) memset(block, 0, bytes);
  return block;
}
