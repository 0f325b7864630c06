// Opens a library that records, calls the library's entry and closes the library. Does this twice, and then once more
// in a thread. Usage: plugin_host LIBRARY COUNT
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

int use(const char* library, const char* count) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 1;
  }
  reinterpret_cast<void (*)(unsigned long)>(::dlsym(handle, "plugin_entry"))(std::strtoul(count, nullptr, 10));
  return ::dlclose(handle);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int failures = use(argv[1], argv[2]);
  std::thread([&] { failures += use(argv[1], argv[2]); }).join();
  return failures;
}
