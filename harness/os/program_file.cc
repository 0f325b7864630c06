#include "os/program_file.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <vector>

namespace zerotax {
namespace {

// As binfmt_script gives up: BINPRM_BUF_SIZE bytes of a line, and five interpreters of interpreters.
constexpr std::size_t kScriptLine = 256;
constexpr int kScriptDepth = 5;

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// Whether the kernel starts it in secure-execution mode, in which the dynamic linker ignores LD_PRELOAD.
std::string why_secure(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "cannot be looked at";
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return "is setuid";
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getgid()) {
    return "is setgid";
  }
  if (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return "";
}

/// Bytes of the file, fewer at its end.
std::string read_at(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{64} << 20;  // a broken file may claim anything
  std::string content(std::min(bytes, kMost), '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return content;
}

/// The sanitizer's library that a program needs, or empty: each wants to be the first that is loaded, and ends the
/// program where another is before it.
std::string needed_sanitizer(std::ifstream& file, const std::vector<Elf64_Phdr>& segments) {
  std::string dynamic;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_DYNAMIC) dynamic = read_at(file, segment.p_offset, segment.p_filesz);
  }
  std::vector<Elf64_Dyn> entries(dynamic.size() / sizeof(Elf64_Dyn));
  if (!entries.empty()) std::memcpy(entries.data(), dynamic.data(), entries.size() * sizeof(Elf64_Dyn));
  std::uint64_t names_at = 0;
  std::uint64_t names_bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) names_at = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) names_bytes = entry.d_un.d_val;
  }
  std::string names;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || names_at < segment.p_vaddr || names_at - segment.p_vaddr >= segment.p_filesz)
      continue;
    names = read_at(file, names_at - segment.p_vaddr + segment.p_offset, names_bytes);
  }
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= names.size()) continue;
    std::string library = &names[entry.d_un.d_val];
    for (const char* sanitizer : {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so"}) {
      if (library.starts_with(sanitizer)) return library;
    }
  }
  return "";
}

std::string why_not_elf(const std::string& path, std::ifstream& file, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    return "is a program for another kind of processor (only x86-64 can be recorded)";
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return "is no program";
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(segments.data()),
            static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
  if (!file) return "is a broken program file";
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_INTERP) continue;
    std::string loader(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(loader.data(), static_cast<std::streamsize>(loader.size()));
    loader.resize(std::strlen(loader.c_str()));
    if (loader.find("/ld-linux") == std::string::npos && loader.find("/ld-musl") == std::string::npos) {
      return "is for an unknown C library (its loader is " + loader + ")";
    }
    const std::string sanitizer = needed_sanitizer(file, segments);
    if (!sanitizer.empty())
      return "is built with a sanitizer, whose " + sanitizer + " must be loaded before anything else";
    const std::string secure = why_secure(path);
    return secure.empty() ? "" : secure + ", so that nothing can be preloaded into it";
  }
  return "is statically linked, so that nothing can be preloaded into it";
}

std::string judge(const std::string& path, int depth) {
  std::ifstream file(path, std::ios::binary);
  // What may be executed but not read cannot be judged: the program will show.
  if (!file) return "";
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  const auto got = static_cast<std::size_t>(file.gcount());
  const auto* begin = reinterpret_cast<const char*>(&header);
  if (got >= SELFMAG && std::memcmp(begin, ELFMAG, SELFMAG) == 0) {
    return got == sizeof header ? why_not_elf(path, file, header) : "is a broken program file";
  }
  if (got < 2 || std::memcmp(begin, "#!", 2) != 0 || depth == 0) {
    return "is neither an ELF program nor a script that names its interpreter";
  }
  file.clear();
  file.seekg(2);
  std::string line;
  std::getline(file, line);
  std::string interpreter;
  std::istringstream(line.substr(0, kScriptLine)) >> interpreter;
  if (!is_executable_file(interpreter)) return "names an interpreter that cannot be run: '" + interpreter + "'";
  const std::string why = judge(interpreter, depth - 1);
  return why.empty() ? "" : "is run by " + interpreter + ", which " + why;
}

}  // namespace

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

std::string why_not_preloadable(const std::string& path) { return judge(path, kScriptDepth); }

}  // namespace zerotax
