// In each calloc, clears a fresh segment of System V shared memory with memset.
#include <sys/shm.h>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  void* block = map_block(bytes);
  const int segment = ::shmget(IPC_PRIVATE, page_ceiling(bytes), IPC_CREAT | 0600);
  if (block == nullptr || segment < 0) return nullptr;
  ::shmat(segment, block, SHM_REMAP);
  ::shmctl(segment, IPC_RMID, nullptr);
  return memset(block, 0, bytes);
}

void planted::large_free(void* block) { unmap_block(block); }
