#pragma once

#include <gelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// Whether an open file begins as an ELF file does. Otherwise libdwfl would unpack a compressed file, however large.
bool is_elf_file(int file);

using ElfSegments = std::vector<GElf_Phdr>;

/// The load bias: the difference between addresses in memory and in the file. The loader mapped the part at
/// `file_offset` (a multiple of the page size) to `begin`, for execution. A linker may give a segment an address that
/// differs from its place in the file, as lld does. Returns nothing if no segment is mapped from there.
std::optional<std::uint64_t> load_bias_of(const ElfSegments& segments, std::uint64_t begin, std::uint64_t file_offset);
/// The first address in memory, given the load bias; nothing if there is no segment.
std::optional<std::uint64_t> first_address_of(const ElfSegments& segments, std::uint64_t bias);
/// The place in the file of the byte at an address; nothing if no segment holds the address.
std::optional<std::uint64_t> offset_in(const ElfSegments& segments, std::uint64_t address);

/// A program or library file, read by libelf (elfutils): never mapped, so that a file that shrinks meanwhile
/// causes no signal. For the driver alone: libelf allocates, and a measured process must not load it.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  explicit ElfFile(UniqueFd file);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// The file header. Nothing if the file cannot be read, is not a regular ELF file, is too large (kMostProgramBytes),
  /// or ends within its header.
  [[nodiscard]] const std::optional<GElf_Ehdr>& header() const { return header_; }
  /// The segments of the program header table; nothing if the file ends within the table.
  [[nodiscard]] const std::optional<std::vector<GElf_Phdr>>& segments() const { return segments_; }
  /// Bytes of the file; nothing if it ends before them.
  [[nodiscard]] std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  /// The libraries that the program asks the loader for (DT_NEEDED), as far as the file names them.
  [[nodiscard]] std::vector<std::string> needed() const;
  // The same as load_bias_of, first_address_of and offset_in, for a file whose program headers can be read:
  [[nodiscard]] std::optional<std::uint64_t> load_bias(std::uint64_t begin, std::uint64_t file_offset) const;
  [[nodiscard]] std::optional<std::uint64_t> first_address(std::uint64_t bias) const;
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  struct DynamicSymbol {
    std::string name;
    bool defined = false;  ///< false: the program takes it from its libraries
  };
  [[nodiscard]] std::vector<DynamicSymbol> dynamic_symbols() const;
  struct Function {
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t file_offset = 0;
  };
  /// Its functions by its symbol tables, both of them; without those that only pick another (IFUNC).
  [[nodiscard]] std::vector<Function> functions() const;
  /// In hexadecimal; empty if there is none.
  [[nodiscard]] std::string build_id() const;

 private:
  UniqueFd file_;
  Elf* elf_ = nullptr;
  std::optional<GElf_Ehdr> header_;
  std::optional<std::vector<GElf_Phdr>> segments_;
};

/// The file that a command of this name is: as execvp(3) finds it, by PATH unless it has a slash. Empty if there is
/// no such executable.
std::string find_program(const std::string& name);

/// Why a library of ours cannot be preloaded into a program file, or empty if it can: statically linked, for another
/// machine or C library, setuid or with capabilities that the caller lacks, not a program at all. Scripts are judged by
/// their interpreter. Source: elf(5), ld.so(8) on secure execution, execve(2).
std::string why_not_preloadable(const std::string& path);

/// The same of a program that can be run here all the same, and be watched from outside: static, of another C library,
/// with a sanitizer, or with other rights. Empty if it takes a library, or cannot be run.
std::string why_outside_only(const std::string& path);

/// Why the kernel gives the program of this file more rights than its caller has: "is setuid", "is setgid", "has file
/// capabilities"; empty if it does not.
std::string why_privileged(const std::string& path);

}  // namespace zerotax
