// Calls a plugin that has a C++ library of its own, and allocates by operator new, before it asks why another library
// could not be opened.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  void* plugin = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : 0;
  void (*allocate)(void) = plugin ? (void (*)(void))dlsym(plugin, "allocate") : 0;
  if (!allocate) return 3;
  void* missing = dlopen("libmissing.so.7", RTLD_NOW);
  allocate();
  const char* why = dlerror();
  printf("%d %s\n", missing != 0, why ? why : "no error");
}
