#include "os/elf_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/page.h"
#include "os/processor.h"
#include "os/regular_file.h"

namespace zerotax {
namespace {

/// Reads the program headers. libelf checks each count and offset against the size of the file. Returns nothing if
/// libelf refuses the file.
std::optional<std::vector<GElf_Phdr>> read_segments(Elf* elf, std::size_t count) {
  std::vector<GElf_Phdr> segments(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (::gelf_getphdr(elf, static_cast<int>(i), &segments[i]) == nullptr) return std::nullopt;
  }
  return segments;
}

// Limits of the kernel's binfmt_script: BINPRM_BUF_SIZE bytes of a line, and five nested interpreters.
constexpr std::size_t kScriptLine = 256;
constexpr int kScriptDepth = 5;

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns why the kernel starts a program in secure-execution mode. In that mode, the dynamic linker ignores
/// LD_PRELOAD.
std::string why_secure(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "cannot be examined";
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return "is setuid";
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getgid()) {
    return "is setgid";
  }
  if (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return "";
}

/// Returns why a program with a sanitizer accepts no preloaded library, or "" without a sanitizer. Either the
/// sanitizer's library must be loaded first, or the sanitizer is in the program and brings an allocator.
std::string why_sanitized(const ElfFile& program) {
  const std::string built = "is built with a sanitizer, ";
  for (const std::string& library : program.needed()) {
    for (const char* sanitizer : {"asan", "tsan", "lsan", "hwasan", "msan"}) {
      if (library.starts_with(std::string("lib") + sanitizer + ".so") ||
          library.starts_with(std::string("libclang_rt.") + sanitizer)) {
        return fmt::format("{}whose {} must be loaded before anything else", built, library);
      }
    }
  }
  // Clang links the sanitizer into the program, as does gcc with -static-libasan. UBSan alone has no malloc.
  bool has_sanitizer = false;
  bool has_malloc = false;
  for (const ElfFile::DynamicSymbol& symbol : program.dynamic_symbols()) {
    has_sanitizer = has_sanitizer || symbol.name.starts_with("__sanitizer_");
    has_malloc = has_malloc || (symbol.defined && symbol.name == "malloc");
  }
  if (!has_sanitizer || !has_malloc) return "";
  return built + "which is linked into the program and has its own allocator";
}

/// The reason why nothing can be preloaded into a program; empty if preloading works.
struct Refusal {
  std::string why;
  bool runs = false;  ///< whether the program can nevertheless run, and be watched without a library
};

Refusal why_not_elf(const std::string& path) {
  const ElfFile program(path);
  Refusal broken{"is a broken program file"};
  if (!program.header()) return broken;
  const GElf_Ehdr& header = *program.header();
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfMachine) {
    return {std::string("is a program for another kind of processor (only ") + kProcessorName + " can be recorded)"};
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return {"is not a program"};
  if (!program.segments()) return broken;
  for (const GElf_Phdr& segment : *program.segments()) {
    if (segment.p_type != PT_INTERP) continue;
    const std::optional<std::string> named = program.bytes(segment.p_offset, segment.p_filesz);
    if (!named) return broken;
    const std::string loader = named->substr(0, named->find('\0'));
    if (loader.find("/ld-musl") != std::string::npos) {
      return {"is built for musl, not for glibc, so nothing can be preloaded into it", true};
    }
    if (loader.find("/ld-linux") == std::string::npos) {
      return {"is for an unknown C library (its loader is " + loader + ")", true};
    }
    const std::string sanitized = why_sanitized(program);
    if (!sanitized.empty()) return {sanitized, true};
    const std::string secure = why_secure(path);
    if (secure.empty()) return {};
    // The kernel stops perf events when a program gains rights that its user does not have, so only root can watch the
    // program.
    return {secure + ", so that nothing can be preloaded into it", ::geteuid() == 0};
  }
  return {"is statically linked, so that nothing can be preloaded into it", true};
}

Refusal judge(const std::string& path, int depth) {
  const UniqueFd file = open_program_file(path);
  // A file that may be executed but not read cannot be examined, so only an attempt to run it shows whether it works.
  if (!file) return {};
  if (is_elf_file(file.get())) return why_not_elf(path);
  char begin[2 + kScriptLine];
  const ssize_t got = ::pread(file.get(), &begin[0], sizeof begin, 0);
  const std::string_view text(&begin[0], got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!text.starts_with("#!") || depth == 0) {
    return {"is neither an ELF program nor a script that names its interpreter"};
  }
  std::string interpreter;
  std::istringstream(std::string(text.substr(2, text.find('\n') - 2))) >> interpreter;
  if (!is_executable_file(interpreter)) return {"names an interpreter that cannot be run: '" + interpreter + "'"};
  Refusal refusal = judge(interpreter, depth - 1);
  if (!refusal.why.empty()) refusal.why = "is run by " + interpreter + ", which " + refusal.why;
  return refusal;
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
  // The dynamic section contains the address of the string table, not the offset. The segments give the offset, because
  // a file need not have sections.
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
  // Two segments may share a page of the file, which is then mapped twice. The executable segment takes precedence.
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

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return is_executable_file(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable_file(candidate)) return candidate;
  }
  return "";
}

std::string why_privileged(const std::string& path) { return why_secure(path); }

std::string why_not_preloadable(const std::string& path) { return judge(path, kScriptDepth).why; }

std::string why_outside_only(const std::string& path) {
  const Refusal refusal = judge(path, kScriptDepth);
  return refusal.runs ? refusal.why : "";
}

}  // namespace zerotax
