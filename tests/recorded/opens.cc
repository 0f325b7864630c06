// opens LIBRARY: opens a library that was not there at the start, and calls its two functions.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* library = ::dlopen(argv[1], RTLD_NOW);
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
