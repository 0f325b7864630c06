#include "record/preload/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "os/got_hook.h"
#include "record/preload/arena.h"
#include "record/preload/process.h"
#include "record/preload/text.h"

// First address of this library, and first address after this library, as defined by the linker.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}

namespace zerotax::record {
namespace {

/// Copies the build ID from the object's notes, if its first page is the file's.
void copy_build_id(const dl_find_object& object, Module& module) {
  const auto* begin = static_cast<const char*>(object.dlfo_map_start);
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(begin);
  if (std::memcmp(&header->e_ident[0], ELFMAG, SELFMAG) != 0) return;
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(begin + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const char*>(object.dlfo_link_map->l_addr + segments[i].p_vaddr);
    const char* const end = note + segments[i].p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto* head = reinterpret_cast<const ElfW(Nhdr)*>(note);
      const char* const name = note + sizeof *head;
      const char* const content = name + ((head->n_namesz + 3U) & ~3U);
      if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        module.build_id_bytes = std::min<std::uint32_t>(head->n_descsz, kBuildIdBytes);
        std::memcpy(&module.build_id[0], content, module.build_id_bytes);
        return;
      }
      note = content + ((head->n_descsz + 3U) & ~3U);
    }
  }
}

/// The program itself has no name in the link map.
const char* path_of(const dl_find_object& object, const ProcessSlot& slot) {
  const char* name = object.dlfo_link_map->l_name;
  return name[0] != '\0' ? name : &slot.executable[0];
}

/// Returns the index of a module, and adds the module if it is new. Returns 0 if there is no room. If two threads add
/// the same module, both entries are valid.
std::uint32_t index_of(const dl_find_object& object) {
  const auto begin = reinterpret_cast<std::uint64_t>(object.dlfo_map_start);
  const auto end = reinterpret_cast<std::uint64_t>(object.dlfo_map_end);
  const char* path = path_of(object, *process);
  const std::uint32_t used = std::min<std::uint32_t>(process->modules_used, kModules);
  for (std::uint32_t i = 1; i < used; ++i) {
    const Module& module = process->modules[i];
    // The name is compared, too, because another object may have been loaded at the address of an unloaded one.
    if (module.ready != 0 && module.begin == begin && module.end == end &&
        std::strncmp(&module.path[0], path, kPathBytes - 1) == 0) {
      return i;
    }
  }
  const std::uint32_t index = take_entry(process->modules_used, &process->modules[0], kModules);
  if (index == kModules) return 0;
  Module& module = process->modules[index];
  module.begin = begin;
  module.end = end;
  module.bias = object.dlfo_link_map->l_addr;
  copy_text(module.path, path);
  copy_build_id(object, module);
  module.ready = 1;
  return index;
}

/// Number of objects at the program's start. The dynamic linker appends objects that are opened later, and never
/// unloads the objects of the start.
std::atomic<std::size_t> at_start{0};

struct Search {
  const char* symbol;
  const char* library;  ///< nullptr: search the objects of the program's start
  bool begun;           ///< whether the search has passed this library, or includes all objects
  std::size_t visited;
  void* found;
  std::size_t* bytes = nullptr;  ///< receives the size of the symbol
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
  search.found = find_symbol(*object, search.symbol, search.bytes);
  return search.found != nullptr ? 1 : 0;
}

void* find(Search search) {
  if (at_start == 0) {
    // All objects of the program's start are loaded before any code runs.
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

bool is_ours(std::uintptr_t address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  return address >= begin && address < reinterpret_cast<std::uintptr_t>(&_end);
}

const char* object_path(const void* address, const ProcessSlot& slot) {
  dl_find_object object{};
  Dl_info info{};
  if (::_dl_find_object(const_cast<void*>(address), &object) == 0) return path_of(object, slot);
  return ::dladdr(address, &info) != 0 ? info.dli_fname : "";
}

std::uint64_t place(std::uint64_t address) {
  dl_find_object object{};
  // _dl_find_object of glibc 2.35 and later takes no lock of the dynamic linker. Another thread may hold such a lock,
  // or may have held it at a fork.
  if (::_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return address & kFrameAddressMask;
  const std::uint64_t index = index_of(object);
  if (index == 0) return address & kFrameAddressMask;
  return index << kFrameModuleShift | ((address - object.dlfo_link_map->l_addr) & kFrameAddressMask);
}

void* find_next(const char* symbol) { return find({symbol, nullptr, false, 0, nullptr}); }

void* find_first(const char* symbol, std::size_t* bytes) { return find({symbol, nullptr, true, 0, nullptr, bytes}); }

void* find_in(const char* library, const char* symbol) { return find({symbol, library, true, 0, nullptr}); }

}  // namespace zerotax::record
