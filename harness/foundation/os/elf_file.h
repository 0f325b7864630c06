#pragma once

#include <gelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// Whether an open file begins like an ELF file. No other file may be passed to libdwfl, which would decompress a
/// compressed file of any size.
bool is_elf_file(int file);

using ElfSegments = std::vector<GElf_Phdr>;

/// Returns the load bias: the address in memory minus the address that the file states. The loader mapped the part at
/// `file_offset` (a multiple of the page size) to `begin`, for execution. A segment's address may differ from its
/// offset in the file, as in files linked by lld. Returns nothing if no segment is mapped from `file_offset`.
std::optional<std::uint64_t> load_bias_of(const ElfSegments& segments, std::uint64_t begin, std::uint64_t file_offset);
/// Returns the first address in memory, given the load bias, or nothing if there is no segment.
std::optional<std::uint64_t> first_address_of(const ElfSegments& segments, std::uint64_t bias);
/// Returns the file offset of the byte at an address, or nothing if no segment contains the address.
std::optional<std::uint64_t> offset_in(const ElfSegments& segments, std::uint64_t address);

/// A program or library file, read by libelf (elfutils). The file is never mapped, so that no signal arises if the file
/// is truncated in the meantime. Only the driver may use this class, because libelf allocates and must not be loaded
/// into a measured process.
class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  explicit ElfFile(UniqueFd file);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// Returns the file header. Returns nothing if the file cannot be read, is not a regular ELF file, is too large
  /// (kMostProgramBytes), or ends within its header.
  [[nodiscard]] const std::optional<GElf_Ehdr>& header() const { return header_; }
  /// Returns the segments of the program header table, or nothing if the file ends within the table.
  [[nodiscard]] const std::optional<std::vector<GElf_Phdr>>& segments() const { return segments_; }
  /// Returns `count` bytes of the file, or nothing if the file is too short.
  [[nodiscard]] std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  /// Returns the libraries that the program requests from the loader (DT_NEEDED), if the file contains their names.
  [[nodiscard]] std::vector<std::string> needed() const;
  // Like load_bias_of, first_address_of and offset_in, for a file with readable program headers:
  [[nodiscard]] std::optional<std::uint64_t> load_bias(std::uint64_t begin, std::uint64_t file_offset) const;
  [[nodiscard]] std::optional<std::uint64_t> first_address(std::uint64_t bias) const;
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  struct DynamicSymbol {
    std::string name;
    bool defined = false;  ///< false if a library must provide the symbol
  };
  [[nodiscard]] std::vector<DynamicSymbol> dynamic_symbols() const;
  struct Function {
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t file_offset = 0;
  };
  /// Returns the functions in both symbol tables, except functions that only select another function (IFUNC).
  [[nodiscard]] std::vector<Function> functions() const;
  /// Returns the build ID in hexadecimal, or "" if there is none.
  [[nodiscard]] std::string build_id() const;

 private:
  UniqueFd file_;
  Elf* elf_ = nullptr;
  std::optional<GElf_Ehdr> header_;
  std::optional<std::vector<GElf_Phdr>> segments_;
};

/// Returns the file of a command, found as by execvp(3): in PATH, unless the name contains a slash. Returns "" if there
/// is no such executable.
std::string find_program(const std::string& name);

/// Returns why a library of ours cannot be preloaded into a program file, or "" if it can. Reasons are static linking,
/// another machine or C library, setuid, capabilities that the caller lacks, or a file that is no program. Scripts are
/// judged by their interpreter. Source: elf(5), ld.so(8) on secure execution, execve(2).
std::string why_not_preloadable(const std::string& path);

/// Returns the reason why a program accepts no preloaded library, although it can run here and be watched without a
/// library. Reasons are static linking, another C library, a sanitizer, or more rights than its caller has. Returns ""
/// if the program accepts a library or cannot run.
std::string why_outside_only(const std::string& path);

/// Returns why the kernel gives the program in this file more rights than its caller has: "is setuid", "is setgid",
/// "has file capabilities". Returns "" if the kernel gives no such rights.
std::string why_privileged(const std::string& path);

}  // namespace zerotax
