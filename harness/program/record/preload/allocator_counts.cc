// Asks the allocator for its own counts, as a cross-check of the parts that zerotax finds.
#include "record/preload/allocator_counts.h"

#include <cstddef>

#include "record/preload/modules.h"
#include "record/preload/real.h"

namespace zerotax::record {
namespace {

/// The C library's struct mallinfo2 (mallinfo(3)), which headers before glibc 2.33 lack.
struct Mallinfo {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

Mallinfo (*mallinfo_of_glibc)() = nullptr;
int (*control_of_jemalloc)(const char* name, void* old, std::size_t* bytes, void* value, std::size_t) = nullptr;
void (*info_of_mimalloc)(std::size_t* elapsed, std::size_t* user, std::size_t* system, std::size_t* rss,
                         std::size_t* peak_rss, std::size_t* commit, std::size_t* peak_commit,
                         std::size_t* faults) = nullptr;
int (*property_of_tcmalloc)(const char* name, std::size_t* value) = nullptr;

/// Finds a function of the library whose malloc is called.
template <typename Function>
void find(const char* symbol, Function& function) {
  void* const found = find_first(symbol);
  if (found != nullptr && is_beside_malloc(found)) function = reinterpret_cast<Function>(found);
}

CountsFrom ask_glibc(std::uint64_t* bytes) {
  const Mallinfo info = mallinfo_of_glibc();
  const std::size_t values[] = {info.uordblks, info.hblkhd, info.fordblks, info.keepcost};
  for (std::size_t i = 0; i < std::size(values); ++i) bytes[i] = values[i];
  return CountsFrom::kGlibc;
}

CountsFrom ask_jemalloc(std::uint64_t* bytes) {
  std::uint64_t epoch = 1;  // a new epoch refreshes the counts
  if (control_of_jemalloc("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0) return CountsFrom::kRefused;
  for (const char* name : {"stats.allocated", "stats.active", "stats.resident", "stats.retained"}) {
    std::size_t value = 0;
    std::size_t size = sizeof value;
    if (control_of_jemalloc(name, &value, &size, nullptr, 0) != 0) return CountsFrom::kRefused;
    *bytes++ = value;
  }
  return CountsFrom::kJemalloc;
}

CountsFrom ask_mimalloc(std::uint64_t* bytes) {
  std::size_t unused = 0;
  std::size_t commit = 0;
  std::size_t peak = 0;
  info_of_mimalloc(&unused, &unused, &unused, &unused, &unused, &commit, &peak, &unused);
  bytes[0] = commit;
  bytes[1] = peak;
  return CountsFrom::kMimalloc;
}

CountsFrom ask_tcmalloc(std::uint64_t* bytes) {
  for (const char* name : {"generic.current_allocated_bytes", "generic.heap_size", "tcmalloc.pageheap_free_bytes",
                           "tcmalloc.pageheap_unmapped_bytes"}) {
    std::size_t value = 0;
    if (property_of_tcmalloc(name, &value) == 0) return CountsFrom::kRefused;
    *bytes++ = value;
  }
  return CountsFrom::kTcmalloc;
}

CountsFrom ask(std::uint64_t* bytes) {
  if (control_of_jemalloc != nullptr) return ask_jemalloc(bytes);
  if (info_of_mimalloc != nullptr) return ask_mimalloc(bytes);
  if (property_of_tcmalloc != nullptr) return ask_tcmalloc(bytes);
  return mallinfo_of_glibc != nullptr ? ask_glibc(bytes) : CountsFrom::kNoFunction;
}

}  // namespace

void find_allocator_counts() {
  find("mallctl", control_of_jemalloc);
  find("mi_process_info", info_of_mimalloc);
  find("MallocExtension_GetNumericProperty", property_of_tcmalloc);
  find("mallinfo2", mallinfo_of_glibc);
}

void ask_allocator(bool within_call, AllocatorSays& says) {
  says.from = within_call ? CountsFrom::kWithinCall : ask(&says.bytes[0]);
}

}  // namespace zerotax::record
