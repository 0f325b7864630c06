#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/elf_file.h"

namespace zerotax {

struct ForeignFile;

/// What the headers and symbol tables of a program file of somebody else say, as ElfFile has it of our own: FileReader
/// reads them.
class ForeignProgram {
 public:
  explicit ForeignProgram(const std::string& path);

  /// e_machine of a file of 64 bits; 0 of any other.
  [[nodiscard]] unsigned machine() const { return machine_; }
  /// Bytes of the file; nothing if it ends before them.
  [[nodiscard]] std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] const ElfSegments& segments() const { return segments_; }
  /// In hexadecimal; empty if there is none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  /// Its functions whose name has one of the words in it, a few hundred at most.
  [[nodiscard]] std::vector<ElfFile::Function> functions(const std::vector<std::string>& words) const;

 private:
  std::shared_ptr<ForeignFile> file_;
  unsigned machine_ = 0;
  ElfSegments segments_;
  std::string build_id_;
};

}  // namespace zerotax
