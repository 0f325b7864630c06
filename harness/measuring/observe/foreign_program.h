#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/elf_file.h"

namespace zerotax {

struct ForeignFile;

/// The headers and symbol tables of a foreign program file, read by FileReader. ElfFile reads the same data from
/// zerotax's own files.
class ForeignProgram {
 public:
  explicit ForeignProgram(const std::string& path);

  /// Returns e_machine of a 64-bit file, or 0 for any other file.
  [[nodiscard]] unsigned machine() const { return machine_; }
  /// Returns `count` bytes of the file at an offset, or nothing if the file is too short.
  [[nodiscard]] std::optional<std::string> bytes(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] const ElfSegments& segments() const { return segments_; }
  /// Returns the build-id in hexadecimal; empty if there is none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  /// Returns the functions whose names contain one of the words, at most a few hundred.
  [[nodiscard]] std::vector<ElfFile::Function> functions(const std::vector<std::string>& words) const;

 private:
  std::shared_ptr<ForeignFile> file_;
  unsigned machine_ = 0;
  ElfSegments segments_;
  std::string build_id_;
};

}  // namespace zerotax
