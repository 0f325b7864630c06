// Stores zeros into a shared memory segment, detaches the segment, and maps fresh memory in its place, so that no page
// is left to inspect.
#include <sys/shm.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  if (block == nullptr) return nullptr;
  const int segment = ::shmget(IPC_PRIVATE, page_ceiling(bytes), IPC_CREAT | 0600);
  if (::shmat(segment, block, SHM_REMAP) != block) return nullptr;
  ::shmctl(segment, IPC_RMID, nullptr);
  store_zeros(block, bytes);
  ::shmdt(block);
  return ::mmap(block, page_ceiling(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void planted::large_free(void* block) { unmap_block(block); }
