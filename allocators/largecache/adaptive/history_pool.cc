#include "largecache/adaptive/history_pool.h"

#include <new>

#include "largecache/pages.h"

namespace zerotax::largecache {

History* HistoryPool::take() {
  if (free_ == nullptr) {
    const std::uintptr_t memory = map_pages(page_size(), page_size());
    if (memory == 0) return nullptr;
    auto* slots = static_cast<Slot*>(as_pointer(memory));
    for (std::size_t i = page_size() / sizeof(Slot); i-- > 0;) {
      slots[i].next = free_;
      free_ = &slots[i];
    }
  }
  Slot* const slot = free_;
  free_ = slot->next;
  return new (&slot->history) History{};
}

void HistoryPool::give_back(History* history) {
  if (history == nullptr) return;
  auto* slot = reinterpret_cast<Slot*>(history);
  slot->next = free_;
  free_ = slot;
}

}  // namespace zerotax::largecache
