#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
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

/// One function to replace wherever a loaded object calls it through its global offset table.
struct GotReplacement {
  const char* symbol;  ///< its name in relocations
  void* original;      ///< what the name resolves to (the chosen variant, where it is an indirect function)
  void* replacement;
  bool of_definer = false;  ///< unbound slots of the name in the object that defines it, too
};

/// Replaces, in every object loaded so far, each GOT slot that belongs to one of the functions: slots that hold its
/// resolved address (this finds the C library's own internal calls, which go through an IRELATIVE slot), and slots of
/// its name that lazy binding has not filled in yet. Read-only relocated pages are made writable for the moment.
/// RELA only. `within`, if given, limits it to the object whose memory holds that address. Returns the number of
/// slots replaced. Allocates nothing. Method: research note of the project; System V ABI, AMD64 supplement,
/// "Relocation".
std::size_t replace_got_slots(const GotReplacement* replacements, std::size_t count, const void* within = nullptr);

/// Up to N replacements, collected by name.
template <std::size_t N>
class GotReplacements {
 public:
  /// Finds `symbol` (dlsym, RTLD_DEFAULT) and remembers it in `real`, to be called by the replacement. A symbol that is
  /// not there is left alone.
  template <typename Function>
  void add(const char* symbol, Function*& real, Function* replacement) {
    void* found = ::dlsym(RTLD_DEFAULT, symbol);
    if (found == nullptr) return;
    real = reinterpret_cast<Function*>(found);
    all_[count_++] = {symbol, found, reinterpret_cast<void*>(replacement), false};
  }

  /// replace_got_slots of them all; not every caller minds how many.
  // NOLINTNEXTLINE(modernize-use-nodiscard)
  std::size_t apply() const { return replace_got_slots(&all_[0], count_); }

 private:
  GotReplacement all_[N];
  std::size_t count_ = 0;
};

}  // namespace zerotax
