#include "observe/libc_functions.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>

namespace zerotax {
namespace {

struct OwnLibrary {
  std::string path;
  std::map<std::uint64_t, std::string> functions;  ///< by address in the file
};

std::string canonical(const std::string& path) {
  std::error_code failure;
  const auto found = std::filesystem::canonical(path, failure);
  return failure ? path : found.string();
}

OwnLibrary look() {
  OwnLibrary own;
  for (const char* name : {"memset", "bzero", "memcpy", "memmove", "mempcpy", "memcmp", "memchr", "strlen"}) {
    void* address = ::dlsym(RTLD_DEFAULT, name);
    Dl_info info{};
    if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string path = canonical(info.dli_fname);
    if (own.path.empty()) own.path = path;
    if (path != own.path) continue;
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

std::map<std::string, std::uint64_t> libc_functions(const std::string& path) {
  const OwnLibrary& own = own_library();
  std::map<std::string, std::uint64_t> found;
  if (canonical(path) != own.path) return found;
  for (const auto& [address, name] : own.functions) found.emplace(name, address);
  return found;
}

std::string libc_function(const std::string& path, std::uint64_t file_address) {
  const OwnLibrary& own = own_library();
  const auto found = own.functions.find(file_address);
  return found != own.functions.end() && canonical(path) == own.path ? found->second : "";
}

}  // namespace zerotax
