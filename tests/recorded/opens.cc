// opens LIBRARY [deepbind|dlmopen]: opens a library that was not there at the start, and calls its two functions.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

void* open(const char* library, const char* way) {
  if (std::strcmp(way, "deepbind") == 0) return ::dlopen(library, RTLD_NOW | RTLD_DEEPBIND);
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
  for (const char* name : {"zero_by_calloc", "zero_by_hand"}) {
    auto* function = reinterpret_cast<void (*)()>(::dlsym(library, name));
    if (function == nullptr) return 1;
    function();
  }
  ::dlclose(library);
  return 0;
}
