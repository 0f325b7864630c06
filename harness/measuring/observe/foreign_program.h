#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/elf_file.h"

namespace zerotax {

struct ForeignFile;

/// The headers and symbol tables of a foreign program file, read by FileReader. ElfFile is the same for our own files.
class ForeignProgram {
 public:
  explicit ForeignProgram(const std::string& path);

  /// e_machine of a 64-bit file; 0 for any other file.
  [[nodiscard]] unsigned machine() const { return machine_; }
  /// Bytes of the file; nothing if the file ends before them.
  [[nodiscard]] std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] const ElfSegments& segments() const { return segments_; }
  /// The build-id in hexadecimal; empty if there is none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  /// The functions whose names contain one of the words, a few hundred at most.
  [[nodiscard]] std::vector<ElfFile::Function> functions(const std::vector<std::string>& words) const;

 private:
  std::shared_ptr<ForeignFile> file_;
  unsigned machine_ = 0;
  ElfSegments segments_;
  std::string build_id_;
};

}  // namespace zerotax
