// Opens a library that was not loaded at the start, and calls its two functions. Usage: opens LIBRARY
// [deepbind|dlmopen|small]. `small` opens the library by deepbind, and calls its third function.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

void* open(const char* library, const char* way) {
  if (std::strcmp(way, "deepbind") == 0 || std::strcmp(way, "small") == 0)
    return ::dlopen(library, RTLD_NOW | RTLD_DEEPBIND);
  if (std::strcmp(way, "dlmopen") == 0) return ::dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
  return ::dlopen(library, RTLD_NOW);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  void* library = open(argv[1], argc == 3 ? argv[2] : "");
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 1;
  }
  const bool small = argc == 3 && std::strcmp(argv[2], "small") == 0;
  for (const char* name : {small ? "zero_small" : "zero_by_calloc", small ? "zero_small" : "zero_by_hand"}) {
    auto* function = reinterpret_cast<void (*)()>(::dlsym(library, name));
    if (function == nullptr) return 1;
    function();
  }
  ::dlclose(library);
  return 0;
}
