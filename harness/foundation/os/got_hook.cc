#include "os/got_hook.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "os/page.h"
#include "os/processor.h"

namespace zerotax {
namespace {

/// Tables for finding a symbol by name.
struct Symbols {
  const ElfW(Sym) * table = nullptr;
  const char* names = nullptr;
  const ElfW(Half) * versions = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
};

Symbols symbols_of(const dl_phdr_info& object) {
  Symbols symbols;
  for (const ElfW(Dyn)* entry = dynamic_section(object); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols.table = dynamic_pointer<ElfW(Sym)>(object, value);
    if (entry->d_tag == DT_STRTAB) symbols.names = dynamic_pointer<char>(object, value);
    if (entry->d_tag == DT_VERSYM) symbols.versions = dynamic_pointer<ElfW(Half)>(object, value);
    if (entry->d_tag == DT_GNU_HASH) symbols.gnu_hash = dynamic_pointer<std::uint32_t>(object, value);
    if (entry->d_tag == DT_HASH) symbols.hash = dynamic_pointer<std::uint32_t>(object, value);
  }
  return symbols;
}

bool is_wanted(const Symbols& symbols, std::uint32_t index, const char* name) {
  constexpr ElfW(Half) kHiddenVersion = 0x8000;
  const ElfW(Sym)& symbol = symbols.table[index];
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || ELF64_ST_TYPE(symbol.st_info) == STT_TLS) return false;
  if (symbols.versions != nullptr && (symbols.versions[index] & kHiddenVersion) != 0) return false;
  return std::strcmp(symbols.names + symbol.st_name, name) == 0;
}

/// Source: "ELF: symbol lookup via DT_HASH", and glibc's do_lookup_x (elf/dl-lookup.c) for DT_GNU_HASH.
const ElfW(Sym) * by_gnu_hash(const Symbols& symbols, const char* name) {
  constexpr std::uint32_t kWordBits = 8 * sizeof(ElfW(Addr));
  std::uint32_t hash = 5381;
  for (const char* at = name; *at != '\0'; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
  const std::uint32_t buckets = symbols.gnu_hash[0];
  const std::uint32_t first = symbols.gnu_hash[1];
  const std::uint32_t words = symbols.gnu_hash[2];
  const auto* const bloom = reinterpret_cast<const ElfW(Addr)*>(&symbols.gnu_hash[4]);
  const auto* const bucket = reinterpret_cast<const std::uint32_t*>(bloom + words);
  const std::uint32_t* const chain = bucket + buckets;
  if (buckets == 0 || words == 0) return nullptr;
  const ElfW(Addr) word = bloom[hash / kWordBits % words];
  const std::uint32_t other = hash >> (symbols.gnu_hash[3] % 32);
  if ((word >> hash % kWordBits & word >> other % kWordBits & 1) == 0) return nullptr;
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) return nullptr;
  for (;; ++index) {
    const std::uint32_t found = chain[index - first];
    if ((found | 1) == (hash | 1) && is_wanted(symbols, index, name)) return &symbols.table[index];
    if ((found & 1) != 0) return nullptr;
  }
}

const ElfW(Sym) * find_entry(const Symbols& symbols, const char* name) {
  if (symbols.table == nullptr || symbols.names == nullptr) return nullptr;
  if (symbols.gnu_hash != nullptr) return by_gnu_hash(symbols, name);
  // The number of chains equals the number of symbols. An object without a GNU hash table is rare, so all its symbols
  // are searched.
  for (std::uint32_t i = 1; symbols.hash != nullptr && i < symbols.hash[1]; ++i) {
    if (is_wanted(symbols, i, name)) return &symbols.table[i];
  }
  return nullptr;
}

/// Calls a function that chooses a variant for this processor (STT_GNU_IFUNC), and returns the variant.
void* chosen_by(void* function) {
#if defined(__aarch64__)
  // Source: sysdeps/aarch64/sys/ifunc.h of glibc.
  struct Argument {
    unsigned long bytes;
    unsigned long hwcap;
    unsigned long hwcap2;
  };
  constexpr std::uint64_t kHasArgument = std::uint64_t{1} << 62;
  const Argument argument{sizeof(Argument), ::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2)};
  using Choose = void* (*)(std::uint64_t, const Argument*);
  return reinterpret_cast<Choose>(function)(argument.hwcap | kHasArgument, &argument);
#else
  return reinterpret_cast<void* (*)()>(function)();
#endif
}

/// The parts of an object's dynamic section that are needed to read its relocations.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * rela = nullptr;
  std::size_t rela_bytes = 0;
  const ElfW(Rela) * plt = nullptr;
  std::size_t plt_bytes = 0;
};

struct Search {
  Search(const GotReplacement* all, std::size_t how_many, const void* inside)
      : replacements(all), count(how_many), within(inside) {
    for (std::size_t i = 0; i < count; ++i) {
      third_letters[third_letter(replacements[i].symbol)] = true;
      const auto original = reinterpret_cast<std::uintptr_t>(replacements[i].original);
      if (original < originals.begin) originals.begin = original;
      if (original >= originals.end) originals.end = original + 1;
    }
  }

  // These two functions reject nearly all slots of a C++ library. Such a library may have ten thousand slots, while
  // only some twenty functions are searched.
  [[nodiscard]] bool may_have(const char* name) const { return third_letters[third_letter(name)]; }
  [[nodiscard]] bool may_have(const void* function) const {
    const auto address = reinterpret_cast<std::uintptr_t>(function);
    return address >= originals.begin && address < originals.end;
  }

  const GotReplacement* replacements;
  std::size_t count;
  const void* within;
  std::size_t replaced = 0;

 private:
  static unsigned char third_letter(const char* name) {
    return name[0] != '\0' && name[1] != '\0' ? static_cast<unsigned char>(name[2]) : 0;
  }

  bool third_letters[256] = {};
  AddressRange originals{UINTPTR_MAX, 0};  ///< range of the functions' addresses, which are mostly close together
};

Dynamic read_dynamic(const dl_phdr_info& object) {
  Dynamic dynamic;
  for (const ElfW(Dyn)* entry = dynamic_section(object); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        dynamic.symbols = dynamic_pointer<ElfW(Sym)>(object, entry->d_un.d_ptr);
        break;
      case DT_STRTAB:
        dynamic.strings = dynamic_pointer<char>(object, entry->d_un.d_ptr);
        break;
      case DT_RELA:
        dynamic.rela = dynamic_pointer<ElfW(Rela)>(object, entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        dynamic.rela_bytes = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        dynamic.plt = dynamic_pointer<ElfW(Rela)>(object, entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        dynamic.plt_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  return dynamic;
}

bool within_relro(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (address >= page_floor(begin) && address < begin + header.p_memsz) return true;
  }
  return false;
}

bool store(const dl_phdr_info& object, void** slot, void* value) {
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  const bool read_only = within_relro(object, address);
  void* page = reinterpret_cast<void*>(page_floor(address));
  if (read_only && ::mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
  *slot = value;
  if (read_only) ::mprotect(page, page_bytes(), PROT_READ);
  return true;
}

void replace_in_table(const dl_phdr_info& object, const Dynamic& dynamic, const ElfW(Rela) * table, std::size_t bytes,
                      Search& search) {
  for (std::size_t i = 0; table != nullptr && i < bytes / sizeof *table; ++i) {
    const auto type = ELF64_R_TYPE(table[i].r_info);
    const bool lazy = type == kJumpSlot;
    if (!lazy && type != kGlobalSlot && type != kIndirectSlot && type != kAddressSlot) {
      continue;
    }
    auto* slot = reinterpret_cast<void**>(object.dlpi_addr + table[i].r_offset);
    const auto symbol_index = ELF64_R_SYM(table[i].r_info);
    // A slot may be replaced while it is unbound, that is, while it points into its own object's procedure linkage
    // table.
    const bool unbound =
        lazy && symbol_index != 0 && dynamic.symbols != nullptr && dynamic.strings != nullptr && holds(object, *slot);
    const ElfW(Sym)* symbol = unbound ? &dynamic.symbols[symbol_index] : nullptr;
    if (symbol != nullptr && !search.may_have(dynamic.strings + symbol->st_name)) symbol = nullptr;
    if (symbol == nullptr && !search.may_have(*slot)) continue;
    for (std::size_t r = 0; r < search.count; ++r) {
      const GotReplacement& replacement = search.replacements[r];
      const bool resolved = *slot == replacement.original;
      // An unbound slot is matched by its name. A slot that is bound to a different function of the same name is not
      // replaced.
      const bool named = symbol != nullptr && (symbol->st_shndx == SHN_UNDEF || replacement.of_definer) &&
                         std::strcmp(dynamic.strings + symbol->st_name, replacement.symbol) == 0;
      if (!resolved && !named) continue;
      if (store(object, slot, replacement.replacement)) ++search.replaced;
      break;
    }
  }
}

int visit_object(dl_phdr_info* object, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  if (search.within != nullptr && !holds(*object, search.within)) return 0;
  const Dynamic dynamic = read_dynamic(*object);
  replace_in_table(*object, dynamic, dynamic.rela, dynamic.rela_bytes, search);
  replace_in_table(*object, dynamic, dynamic.plt, dynamic.plt_bytes, search);
  return 0;
}

}  // namespace

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  }
  return nullptr;
}

bool holds(const dl_phdr_info& object, const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (place >= begin && place < begin + header.p_memsz) return true;
  }
  return false;
}

bool is_named(const dl_phdr_info& object, const char* name) {
  const char* const names = symbols_of(object).names;
  for (const ElfW(Dyn)* entry = dynamic_section(object); entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SONAME && names != nullptr) return std::strcmp(names + entry->d_un.d_val, name) == 0;
  }
  return false;
}

void* find_symbol(const dl_phdr_info& object, const char* name, std::size_t* bytes) {
  const ElfW(Sym)* const symbol = find_entry(symbols_of(object), name);
  if (symbol == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = symbol->st_size;
  void* const address = reinterpret_cast<void*>(object.dlpi_addr + symbol->st_value);
  return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? chosen_by(address) : address;
}

std::size_t replace_got_slots(const GotReplacement* replacements, std::size_t count, const void* within) {
  Search search(replacements, count, within);
  ::dl_iterate_phdr(visit_object, &search);
  return search.replaced;
}

}  // namespace zerotax
