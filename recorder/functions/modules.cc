#include "functions/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "functions/events.h"

namespace zerotax::functions {
namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// Copies the build ID from the linker's note (--build-id) if it is no longer than a SHA-1.
void copy_build_id(const char* notes, std::size_t bytes, function_module& module) {
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t content = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= sizeof module.build_id && content + note.n_descsz <= bytes) {
      module.build_id_bytes = static_cast<std::uint8_t>(note.n_descsz);
      std::memcpy(module.build_id, notes + content, note.n_descsz);
      return;
    }
    at = content + padded(note.n_descsz);
  }
}

int record_module(dl_phdr_info* info, std::size_t /*size*/, void* /*nothing*/) {
  function_module module{};
  module.bias = info->dlpi_addr;
  module.begin = UINT64_MAX;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_NOTE) copy_build_id(reinterpret_cast<const char*>(begin), segment.p_memsz, module);
    if (segment.p_type != PT_LOAD) continue;
    module.begin = std::min<std::uint64_t>(module.begin, begin);
    module.end = std::max<std::uint64_t>(module.end, begin + segment.p_memsz);
  }
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
    std::strncpy(module.path, info->dlpi_name, sizeof module.path - 1);
  } else {
    // The loader reports no name for the program itself. A path that is too long is cut; the file's functions then have
    // no names.
    const ssize_t length = ::readlink("/proc/self/exe", module.path, sizeof module.path - 1);
    if (length <= 0) return 0;
  }
  // The kernel's own module (vdso) is not a file.
  if (module.begin < module.end && module.path[0] == '/') zerotax::record(module);
  return 0;
}

}  // namespace

void record_modules() {
  ::dl_iterate_phdr(record_module, nullptr);
  // Without this flush, a buffer that keeps only the latest records would overwrite the modules, and no function would
  // have a name.
  zerotax_trace_flush();
}

}  // namespace zerotax::functions

/// Records the names of the loaded files before any of them is unloaded.
extern "C" ZEROTAX_PUBLIC_ int dlclose(void* handle) noexcept {
  static const auto real = reinterpret_cast<int (*)(void*)>(::dlsym(RTLD_NEXT, "dlclose"));
  if (zerotax_trace_is_on()) zerotax::functions::record_modules();
  return real(handle);
}
