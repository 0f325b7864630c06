#include "os/elf_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "os/page.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

/// libelf checks each count and offset against the size of the file. Nothing where it refuses.
std::optional<std::vector<GElf_Phdr>> read_segments(Elf* elf, std::size_t count) {
  std::vector<GElf_Phdr> segments(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (::gelf_getphdr(elf, static_cast<int>(i), &segments[i]) == nullptr) return std::nullopt;
  }
  return segments;
}

}  // namespace

bool is_elf_file(int file) {
  char begin[SELFMAG];
  return ::pread(file, &begin[0], SELFMAG, 0) == SELFMAG && std::memcmp(&begin[0], ELFMAG, SELFMAG) == 0;
}

ElfFile::ElfFile(const std::string& path) : ElfFile(open_program_file(path)) {}

ElfFile::ElfFile(UniqueFd file) : file_(std::move(file)) {
  if (!file_ || ::elf_version(EV_CURRENT) == EV_NONE) return;
  elf_ = ::elf_begin(file_.get(), ELF_C_READ, nullptr);
  GElf_Ehdr header;
  if (elf_ == nullptr || ::elf_kind(elf_) != ELF_K_ELF || ::gelf_getehdr(elf_, &header) == nullptr) return;
  header_ = header;
  segments_ = read_segments(elf_, header.e_phnum);
}

ElfFile::~ElfFile() { ::elf_end(elf_); }

std::optional<std::string> ElfFile::bytes(std::uint64_t offset, std::uint64_t count) const {
  if (count == 0) return "";
  const Elf_Data* data = ::elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(offset), count, ELF_T_BYTE);
  if (data == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(data->d_buf), data->d_size);
}

std::vector<std::string> ElfFile::needed() const {
  if (!segments_) return {};
  Elf_Data* dynamic = nullptr;
  for (const GElf_Phdr& segment : *segments_) {
    if (segment.p_type != PT_DYNAMIC) continue;
    dynamic = ::elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(segment.p_offset), segment.p_filesz, ELF_T_DYN);
  }
  if (dynamic == nullptr) return {};
  std::vector<std::uint64_t> names_at;
  std::uint64_t table = 0;
  std::uint64_t table_bytes = 0;
  GElf_Dyn entry;
  for (int i = 0; ::gelf_getdyn(dynamic, i, &entry) != nullptr; ++i) {
    if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) table_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) names_at.push_back(entry.d_un.d_val);
  }
  // The table is named by its address: a file need not have sections.
  std::string names;
  for (const GElf_Phdr& segment : *segments_) {
    if (segment.p_type != PT_LOAD || table < segment.p_vaddr || table - segment.p_vaddr >= segment.p_filesz) continue;
    names = bytes(table - segment.p_vaddr + segment.p_offset, table_bytes).value_or("");
  }
  std::vector<std::string> libraries;
  for (const std::uint64_t at : names_at) {
    if (at < names.size()) libraries.emplace_back(&names[at]);
  }
  return libraries;
}

std::optional<std::uint64_t> load_bias_of(const ElfSegments& segments, std::uint64_t begin, std::uint64_t file_offset) {
  // Two segments may share a page of the file, which is then mapped twice: the one that is executed is meant.
  for (const bool executable : {true, false}) {
    for (const GElf_Phdr& segment : segments) {
      const std::uint64_t first = page_floor(segment.p_offset);
      if (segment.p_type != PT_LOAD || (executable && (segment.p_flags & PF_X) == 0)) continue;
      if (file_offset < first || file_offset >= segment.p_offset + segment.p_filesz) continue;
      return begin - (segment.p_vaddr - segment.p_offset + file_offset);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> first_address_of(const ElfSegments& segments, std::uint64_t bias) {
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) return bias + page_floor(segment.p_vaddr);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> offset_in(const ElfSegments& segments, std::uint64_t address) {
  for (const GElf_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::load_bias(std::uint64_t begin, std::uint64_t file_offset) const {
  return segments_ ? load_bias_of(*segments_, begin, file_offset) : std::nullopt;
}

std::optional<std::uint64_t> ElfFile::first_address(std::uint64_t bias) const {
  return segments_ ? first_address_of(*segments_, bias) : std::nullopt;
}

std::optional<std::uint64_t> ElfFile::offset_of(std::uint64_t address) const {
  return segments_ ? offset_in(*segments_, address) : std::nullopt;
}

std::vector<ElfFile::DynamicSymbol> ElfFile::dynamic_symbols() const {
  std::vector<DynamicSymbol> found;
  if (!header_) return found;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* symbols = ::elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; symbols != nullptr && ::gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      const char* name = ::elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name != nullptr) found.push_back({name, symbol.st_shndx != SHN_UNDEF});
    }
  }
  return found;
}

std::vector<ElfFile::Function> ElfFile::functions() const {
  std::vector<Function> found;
  if (!header_) return found;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* symbols = ::elf_getdata(section, nullptr);
    if (symbols == nullptr) continue;
    GElf_Sym symbol;
    for (int i = 0; ::gelf_getsym(symbols, i, &symbol) != nullptr; ++i) {
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = ::elf_strptr(elf_, header.sh_link, symbol.st_name);
      const auto offset = offset_of(symbol.st_value);
      if (name != nullptr && offset) found.push_back({name, symbol.st_value, *offset});
    }
  }
  return found;
}

std::string ElfFile::build_id() const {
  if (!segments_) return "";
  const auto aligned = [](std::uint64_t bytes) { return (bytes + 3) & ~std::uint64_t{3}; };
  for (const GElf_Phdr& segment : *segments_) {
    if (segment.p_type != PT_NOTE) continue;
    const std::optional<std::string> notes = bytes(segment.p_offset, segment.p_filesz);
    for (std::uint64_t at = 0; notes && at + sizeof(GElf_Nhdr) <= notes->size();) {
      GElf_Nhdr note{};
      std::memcpy(&note, notes->data() + at, sizeof note);
      const std::uint64_t name = at + sizeof note;
      const std::uint64_t value = name + aligned(note.n_namesz);
      at = value + aligned(note.n_descsz);
      if (at > notes->size()) break;
      if (note.n_type != NT_GNU_BUILD_ID || notes->compare(name, 4, "GNU\0", 4) != 0) continue;
      std::string text;
      for (std::uint64_t i = 0; i < note.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>((*notes)[value + i]));
      return text;
    }
  }
  return "";
}

}  // namespace zerotax
