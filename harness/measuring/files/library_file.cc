#include "files/library_file.h"

#include <filesystem>

#include "os/elf_file.h"

namespace zerotax {

bool is_debian_library(const std::string& word) { return word.starts_with("deb:"); }

bool is_cut_short(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  const ElfFile file(path);
  if (failure || !file.segments()) return true;
  for (const GElf_Phdr& part : *file.segments()) {
    if (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset)) return true;
  }
  return false;
}

}  // namespace zerotax
