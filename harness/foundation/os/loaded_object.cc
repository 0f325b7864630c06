#include "os/loaded_object.h"

#include <sys/auxv.h>

#include <cstddef>
#include <cstring>

namespace zerotax {
namespace {

/// The tables by which a symbol is found by name.
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

void* find_symbol(const dl_phdr_info& object, const char* name) {
  const ElfW(Sym)* const symbol = find_entry(symbols_of(object), name);
  if (symbol == nullptr) return nullptr;
  void* const address = reinterpret_cast<void*>(object.dlpi_addr + symbol->st_value);
  return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? chosen_by(address) : address;
}

}  // namespace zerotax
