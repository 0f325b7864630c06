#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace zerotax {

/// Returns the dynamic section of an object loaded into this process, or nullptr if there is none.
const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object);

/// Returns the target of a pointer in the dynamic section. glibc relocates these pointers in place; other loaders, and
/// the vDSO, leave offsets.
template <typename T>
const T* dynamic_pointer(const dl_phdr_info& object, ElfW(Addr) value) {
  const ElfW(Addr) address = value < object.dlpi_addr ? object.dlpi_addr + value : value;
  return reinterpret_cast<const T*>(address);
}

/// Whether an address is in one of the object's loaded segments.
bool holds(const dl_phdr_info& object, const void* address);

/// Whether a library has this name as its DT_SONAME, the name under which other objects request it.
bool is_named(const dl_phdr_info& object, const char* name);

/// Returns the address of a function or variable that the object defines, in its default version, like dlsym. Returns
/// nullptr if the object does not define the symbol. Allocates nothing, takes no lock, and does not change dlerror.
void* find_symbol(const dl_phdr_info& object, const char* name, std::size_t* bytes = nullptr);

/// A function to replace wherever a loaded object calls it through its global offset table.
struct GotReplacement {
  const char* symbol;  ///< name of the function in relocations
  void* original;      ///< address to which the name resolves (for an indirect function, the selected variant)
  void* replacement;
  bool of_definer = false;  ///< whether to also replace unbound slots in the object that defines the function
};

/// Replaces the GOT slots of these functions in every object loaded so far. A slot belongs to a function if it contains
/// the function's resolved address, or if it has the function's name and lazy binding has not filled the slot yet.
/// Includes slots through which the C library calls itself (IRELATIVE). Read-only relocated pages are made writable
/// temporarily. Handles RELA only. `within`, if given, restricts the search to the object that contains this address.
/// Returns the number of slots replaced. Allocates nothing. Source: System V ABI, AMD64 supplement, "Relocation".
std::size_t replace_got_slots(const GotReplacement* replacements, std::size_t count, const void* within = nullptr);

/// Up to N replacements, collected by name.
template <std::size_t N>
class GotReplacements {
 public:
  /// Finds `symbol` (dlsym, RTLD_DEFAULT) and stores its address in `real`, by which the replacement calls the
  /// original. A missing symbol is ignored.
  template <typename Function>
  void add(const char* symbol, Function*& real, Function* replacement) {
    void* found = ::dlsym(RTLD_DEFAULT, symbol);
    if (found == nullptr) return;
    real = reinterpret_cast<Function*>(found);
    all_[count_++] = {symbol, found, reinterpret_cast<void*>(replacement), false};
  }

  /// Replaces the slots of all collected functions, and returns the number of slots.
  // NOLINTNEXTLINE(modernize-use-nodiscard)
  std::size_t apply() const { return replace_got_slots(&all_[0], count_); }

 private:
  GotReplacement all_[N];
  std::size_t count_ = 0;
};

}  // namespace zerotax
