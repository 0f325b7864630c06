#include "observe/copy_writer.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "observe/interpreter.h"

namespace zerotax {
namespace {

constexpr std::string_view kAllocatorLibraries[] = {"libjemalloc", "libmimalloc", "libtcmalloc",
                                                    "libsnmalloc", "librpmalloc", "libhoard"};
/// Exported functions of malloc. Code without a symbol that follows such a function in glibc belongs to malloc, too, so
/// Frame::after is enough. __default_morecore is the first exported function of malloc.c in glibc.
constexpr std::string_view kMallocFunctions[] = {
    "malloc",        "free",           "cfree",         "calloc",         "realloc",        "memalign",
    "aligned_alloc", "posix_memalign", "valloc",        "pvalloc",        "malloc_trim",    "__default_morecore",
    "__libc_malloc", "__libc_free",    "__libc_calloc", "__libc_realloc", "__libc_memalign"};
/// Static functions of glibc's malloc, and functions of allocators that are linked into a program, by their prefixes.
/// GCC appends suffixes such as ".constprop.0" to names.
constexpr std::string_view kAllocatorPrefixes[] = {
    "_int_malloc",  "_int_free", "_int_realloc",       "_int_memalign", "_mid_memalign",  "sysmalloc", "systrim",
    "unlink_chunk", "ptmalloc_", "malloc_consolidate", "tcache_",       "arena_get2",     "je_",       "_rjem_",
    "mi_",          "_mi_",      "tcmalloc::",         "operator new",  "operator delete"};
constexpr std::string_view kPymallocPrefixes[] = {"pymalloc_",       "_PyObject_Malloc", "_PyObject_Free",
                                                  "PyObject_Malloc", "PyObject_Free",    "_PyObject_Realloc",
                                                  "new_arena",       "insert_to_",       "arena_map_"};
/// Functions of Modules/gcmodule.c and Python/gc.c of CPython, and of gc.c of Ruby.
constexpr std::string_view kCollectorPrefixes[] = {
    "gc_",         "PyGC_Collect",  "_PyGC_",           "visit_decref",       "visit_reachable", "visit_move",
    "update_refs", "subtract_refs", "move_unreachable", "deduce_unreachable", "untrack_",        "delete_garbage",
    "rb_gc_mark",  "rgengc_",       "gc_mark",          "garbage_collect",    "heap_page_"};
constexpr std::string_view kCountFunctions[] = {"Py_IncRef", "Py_DecRef", "_Py_IncRef", "_Py_DecRef"};

template <std::size_t N>
bool begins_with_any(std::string_view name, const std::string_view (&prefixes)[N]) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

template <std::size_t N>
bool is_any(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Returns a name without the distance that Frame::after ends with, such as "+0x12".
std::string_view without_distance(std::string_view name) { return name.substr(0, name.rfind('+')); }

bool is_named_code(const Frame& frame) { return frame.after.empty() && !frame.function.starts_with("0x"); }

bool is_allocator(const Frame& frame, bool in_cpython) {
  if (begins_with_any(frame.module, kAllocatorLibraries)) return true;
  if (!is_named_code(frame)) return is_any(without_distance(frame.after), kMallocFunctions);
  return is_any(frame.function, kMallocFunctions) || begins_with_any(frame.function, kAllocatorPrefixes) ||
         (in_cpython && begins_with_any(frame.function, kPymallocPrefixes));
}

}  // namespace

Writer writer_of(const Frame& frame, StoreTarget target) {
  if (target == StoreTarget::kInSystemCall) return Writer::kKernel;
  if (target == StoreTarget::kStack) return Writer::kStacks;
  const std::string interpreter = interpreter_of(frame.module).name;
  const bool in_cpython = interpreter.starts_with("CPython");
  if (is_allocator(frame, in_cpython)) return Writer::kAllocator;
  const bool collects = in_cpython || interpreter.starts_with("Ruby");
  if (collects && begins_with_any(frame.function, kCollectorPrefixes)) return Writer::kCollector;
  switch (target) {
    case StoreTarget::kReferenceCount:
      return Writer::kReferenceCounts;
    case StoreTarget::kCollectorHeader:
      return Writer::kCollector;
    case StoreTarget::kPoolHeader:
      return Writer::kAllocator;
    case StoreTarget::kFile:
      return Writer::kFileData;
    default:
      break;
  }
  if (in_cpython && is_any(frame.function, kCountFunctions)) return Writer::kReferenceCounts;
  return is_named_code(frame) && !frame.module.empty() ? Writer::kProgram : Writer::kUnknown;
}

}  // namespace zerotax
