// Maps libraries and calls their functions N times. With N = 0, calls the functions until it is killed.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words) {
  void (*enter[32])(int);
  int loaded = 0;
  for (int i = 2; i < count && loaded < 32; ++i) {
    void* library = dlopen(words[i], RTLD_NOW);
    if (library == NULL) {
      puts(dlerror());
      return 1;
    }
    enter[loaded++] = (void (*)(int))dlsym(library, "enter");
  }
  puts("ready");
  fflush(stdout);
  const long rounds = strtol(words[1], NULL, 10);
  for (long round = 0; rounds == 0 || round < rounds; ++round) {
    for (int i = 0; i < loaded; ++i) enter[i](2);
  }
  return 0;
}
