// Storage for the histories of blocks: each keeps its address as long as its block exists, so that whoever holds the
// block may write to it without a lock. Memory comes from mmap and is not given back. The owner's lock is held.
#ifndef ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_HISTORY_POOL_H_
#define ZEROTAX_ALLOCATORS_LARGECACHE_ADAPTIVE_HISTORY_POOL_H_

#include "largecache/block.h"

namespace zerotax::largecache {

class HistoryPool {
 public:
  /// An empty one, or nullptr when no memory can be mapped.
  [[nodiscard]] History* take();

  /// Takes one back; nullptr does nothing.
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
