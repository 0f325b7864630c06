// Storage for the histories of blocks. A history keeps its address as long as its block exists, so that the owner of
// the block may write to the history without a lock. Memory comes from mmap and is never returned. Callers hold the
// heap's lock.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_HISTORY_POOL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_HISTORY_POOL_H_

#include "largecache/block.h"

namespace zerotax::largecache {

class HistoryPool {
 public:
  /// Returns an empty history, or nullptr if no memory can be mapped.
  [[nodiscard]] History* take();

  /// Makes a history available for another block. Does nothing for nullptr.
  void give_back(History* history);

 private:
  union Slot {
    History history;
    Slot* next;
  };

  Slot* free_ = nullptr;
};

}  // namespace zerotax::largecache

#endif  // ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_HISTORY_POOL_H_
