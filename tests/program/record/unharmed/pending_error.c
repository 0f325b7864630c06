// Fails to open a library. Calls dlerror only after a plugin with its own C++ library has called operator new.
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
