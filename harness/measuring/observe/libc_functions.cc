#include "observe/libc_functions.h"

#include <dlfcn.h>

#include <map>
#include <string>

namespace zerotax {
namespace {

struct OwnLibrary {
  FileId file;
  std::map<std::uint64_t, std::string> functions;  ///< by address in the file
};

OwnLibrary look() {
  OwnLibrary own;
  for (const char* name : {"memset", "bzero", "memcpy", "memmove", "mempcpy", "memcmp", "memchr", "strlen"}) {
    void* address = ::dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const FileId file = file_id(info.dli_fname);
    if (!own.file.known()) own.file = file;
    if (!file.known() || file != own.file) continue;
    own.functions.emplace(reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase),
                          name);
  }
  return own;
}

const OwnLibrary& own_library() {
  static const OwnLibrary own = look();
  return own;
}

}  // namespace

std::map<std::string, std::uint64_t> libc_functions(const FileId& file) {
  const OwnLibrary& own = own_library();
  std::map<std::string, std::uint64_t> found;
  if (!file.known() || file != own.file) return found;
  for (const auto& [address, name] : own.functions) found.emplace(name, address);
  return found;
}

std::string libc_function(const FileId& file, std::uint64_t file_address) {
  const OwnLibrary& own = own_library();
  const auto found = own.functions.find(file_address);
  return file.known() && file == own.file && found != own.functions.end() ? found->second : "";
}

}  // namespace zerotax
