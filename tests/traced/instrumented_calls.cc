// Makes known numbers of calls, compiled with -finstrument-functions: recursion, exceptions, longjmp, threads, and a
// library that is opened and closed.
// Usage: instrumented_calls LIBRARY
#include <dlfcn.h>

#include <csetjmp>
#include <stdexcept>
#include <thread>

namespace {

std::jmp_buf back;

}  // namespace

extern "C" {

__attribute__((noinline)) int recursive(int depth) { return depth == 0 ? 1 : recursive(depth - 1) + 1; }

__attribute__((noinline)) void throws(int depth) {
  if (depth == 0) throw std::runtime_error("as expected");
  throws(depth - 1);
}

__attribute__((noinline)) void catches() {
  try {
    throws(2);
  } catch (const std::runtime_error&) {
    recursive(1);
  }
}

__attribute__((noinline)) void jumps(int depth) {
  if (depth == 0) std::longjmp(back, 1);
  if (depth > 0) jumps(depth - 1);
}

__attribute__((noinline)) void lands() {
  if (setjmp(back) == 0) jumps(2);  // NOLINT: what is under test
  recursive(1);
}

__attribute__((noinline)) void in_thread() { recursive(3); }

__attribute__((noinline)) void use_library(const char* library) {
  void* handle = ::dlopen(library, RTLD_NOW);
  if (handle == nullptr) return;
  reinterpret_cast<void (*)()>(::dlsym(handle, "called_in_library"))();
  ::dlclose(handle);
}

}  // extern "C"

int main(int argc, char** argv) {
  for (int i = 0; i < 10; ++i) recursive(9);
  for (int i = 0; i < 5; ++i) catches();
  for (int i = 0; i < 5; ++i) lands();
  std::thread one(in_thread);
  std::thread other(in_thread);
  one.join();
  other.join();
  if (argc > 1) use_library(argv[1]);
  return 0;
}
