// FALLOC_FL_ZERO_RANGE of the memory file behind the kept block, or a hole where it has none.
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
  if (::fallocate(file, FALLOC_FL_ZERO_RANGE, 0, whole) != 0) {
    ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, whole);
  }
  return block;
}
