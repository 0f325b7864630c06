#include "record/preload/symbols.h"

#include <link.h>

#include <atomic>
#include <cstddef>

#include "os/got_hook.h"

namespace zerotax::record {
namespace {

/// Number of objects at the program's start. The dynamic linker appends objects that are opened later, and unloads only
/// these.
std::atomic<std::size_t> at_start{0};

struct Search {
  const char* symbol;
  const char* library;  ///< nullptr: in any object of the program's start
  bool begun;           ///< our own object was passed, or the search includes all objects
  std::size_t visited;
  void* found;
};

int visit(dl_phdr_info* object, std::size_t /*bytes*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  ++search.visited;
  if (search.library == nullptr) {
    if (at_start != 0 && search.visited > at_start) return 1;
    if (!search.begun) {
      search.begun = holds(*object, reinterpret_cast<const void*>(&visit));
      return 0;
    }
  } else if (!is_named(*object, search.library)) {
    return 0;
  }
  search.found = find_symbol(*object, search.symbol);
  return search.found != nullptr ? 1 : 0;
}

void* find(Search search) {
  if (at_start == 0) {
    // All objects of the start are loaded before any code runs.
    std::size_t objects = 0;
    const auto count = [](dl_phdr_info* /*object*/, std::size_t /*bytes*/, void* counted) {
      ++*static_cast<std::size_t*>(counted);
      return 0;
    };
    ::dl_iterate_phdr(count, &objects);
    at_start = objects;
  }
  ::dl_iterate_phdr(visit, &search);
  return search.found;
}

}  // namespace

void* find_next(const char* symbol) { return find({symbol, nullptr, false, 0, nullptr}); }

void* find_first(const char* symbol) { return find({symbol, nullptr, true, 0, nullptr}); }

void* find_in(const char* library, const char* symbol) { return find({symbol, library, true, 0, nullptr}); }

}  // namespace zerotax::record
