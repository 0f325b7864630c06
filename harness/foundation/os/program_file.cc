#include "os/program_file.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "os/elf_file.h"
#include "os/processor.h"
#include "os/regular_file.h"

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
  if (::stat(path.c_str(), &status) != 0) return "cannot be examined";
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return "is setuid";
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != ::getgid()) {
    return "is setgid";
  }
  if (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return "";
}

/// Why a program with a sanitizer takes no preloaded library; empty if it has no sanitizer. The sanitizer's library
/// must be loaded first, or the sanitizer is in the program and brings an allocator.
std::string why_sanitized(const ElfFile& program) {
  const std::string built = "is built with a sanitizer, ";
  for (const std::string& library : program.needed()) {
    for (const char* sanitizer : {"asan", "tsan", "lsan", "hwasan", "msan"}) {
      if (library.starts_with(std::string("lib") + sanitizer + ".so") ||
          library.starts_with(std::string("libclang_rt.") + sanitizer)) {
        return built + "whose " + library + " must be loaded before anything else";
      }
    }
  }
  // Clang puts the sanitizer into the program, and gcc does with -static-libasan. UBSan alone brings no malloc.
  bool has_sanitizer = false;
  bool has_malloc = false;
  for (const ElfFile::DynamicSymbol& symbol : program.dynamic_symbols()) {
    has_sanitizer = has_sanitizer || symbol.name.starts_with("__sanitizer_");
    has_malloc = has_malloc || (symbol.defined && symbol.name == "malloc");
  }
  if (!has_sanitizer || !has_malloc) return "";
  return built + "which is in the program and brings an allocator of its own";
}

/// Why nothing can be preloaded into a program; empty: it can.
struct Refusal {
  std::string why;
  bool runs = false;  ///< it can be run here all the same
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
      return {"is built for musl, another C library than glibc, so that nothing can be preloaded into it", true};
    }
    if (loader.find("/ld-linux") == std::string::npos) {
      return {"is for an unknown C library (its loader is " + loader + ")", true};
    }
    const std::string sanitized = why_sanitized(program);
    if (!sanitized.empty()) return {sanitized, true};
    const std::string secure = why_secure(path);
    if (secure.empty()) return {};
    // The kernel stops perf events where a program gets rights that its user has not.
    return {secure + ", so that nothing can be preloaded into it", ::geteuid() == 0};
  }
  return {"is statically linked, so that nothing can be preloaded into it", true};
}

Refusal judge(const std::string& path, int depth) {
  const UniqueFd file = open_program_file(path);
  // What may be executed but not read cannot be judged: the program will show.
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
