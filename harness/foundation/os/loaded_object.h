#pragma once

#include <elf.h>
#include <link.h>

#include <cstdint>

namespace zerotax {

/// The dynamic section of an object that is loaded into this process; nullptr if it has none.
const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object);

/// The target of a pointer in the dynamic section. glibc relocates these pointers in place; other loaders, and the
/// vDSO, leave offsets.
template <typename T>
const T* dynamic_pointer(const dl_phdr_info& object, ElfW(Addr) value) {
  const ElfW(Addr) address = value < object.dlpi_addr ? object.dlpi_addr + value : value;
  return reinterpret_cast<const T*>(address);
}

/// Whether an address lies in one of the object's loaded segments.
bool holds(const dl_phdr_info& object, const void* address);

/// Whether a library has this name as its DT_SONAME, by which other objects request it.
bool is_named(const dl_phdr_info& object, const char* name);

/// The address of a function or variable that the object defines, in its default version, as dlsym finds it; nullptr if
/// the object does not define the symbol. Allocates nothing, takes no lock, and leaves dlerror alone.
void* find_symbol(const dl_phdr_info& object, const char* name);

}  // namespace zerotax
