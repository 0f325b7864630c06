#include "observe/debuginfod.h"

#include <dlfcn.h>

#include <cstdlib>

#include "os/clock.h"

namespace zerotax {
namespace {

struct Client;

/// The functions of elfutils/debuginfod.h that this file calls.
struct Library {
  void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  Client* (*begin)() = nullptr;
  void (*end)(Client*) = nullptr;
  void (*set_progress)(Client*, int (*)(Client*, long, long)) = nullptr;
  int (*find)(Client*, const unsigned char*, int, char**) = nullptr;

  Library() {
    load(begin, "debuginfod_begin");
    load(end, "debuginfod_end");
    load(set_progress, "debuginfod_set_progressfn");
    load(find, "debuginfod_find_debuginfo");
  }
  explicit operator bool() const {
    return begin != nullptr && end != nullptr && set_progress != nullptr && find != nullptr;
  }

 private:
  template <typename Function>
  void load(Function& function, const char* name) const {
    if (handle != nullptr) function = reinterpret_cast<Function>(::dlsym(handle, name));
  }
};

std::int64_t deadline_ns = 0;

/// libdebuginfod calls this function about once a second. Any value other than 0 ends the download.
int is_late(Client* /*client*/, long /*done*/, long /*all*/) { return monotonic_ns() > deadline_ns ? 1 : 0; }

}  // namespace

UniqueFd Debuginfod::find(const std::string& build_id) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || urls[0] == '\0' || build_id.empty() || !problem_.empty()) return {};
  static const Library library;
  Client* client = library ? library.begin() : nullptr;
  if (client == nullptr) {
    problem_ = "DEBUGINFOD_URLS is set, and libdebuginfod1 is missing";
    return {};
  }
  const std::int64_t begin = monotonic_ns();
  deadline_ns = begin + left_ns_;
  library.set_progress(client, is_late);
  char* path = nullptr;
  constexpr int kIsText = 0;  // special length that marks a build-id given in hexadecimal
  UniqueFd found(library.find(client, reinterpret_cast<const unsigned char*>(build_id.c_str()), kIsText, &path));
  std::free(path);
  library.end(client);
  left_ns_ -= monotonic_ns() - begin;
  if (left_ns_ <= 0) problem_ = "the servers of DEBUGINFOD_URLS are too slow";
  return found;
}

}  // namespace zerotax
