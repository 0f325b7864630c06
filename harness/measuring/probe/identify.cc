#include "probe/identify.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "meter/case.h"
#include "meter/probe_exit.h"
#include "meter/sample_block.h"
#include "probe/inherited.h"
#include "probe/version.h"

namespace zerotax {

namespace {

/// The answer, whole before it is written: an allocator may close our descriptors in any of its calls.
class Answer {
 public:
  template <typename... Values>
  void add(const char* format, Values... values) {
    const int length = std::snprintf(&text_[used_], sizeof text_ - used_, format, values...);
    used_ = std::min(sizeof text_ - 1, used_ + static_cast<std::size_t>(std::max(0, length)));
  }
  [[nodiscard]] bool write_to(int fd) const {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t written = ::write(fd, &text_[done], used_ - done);
      if (written < 0) return false;
      done += static_cast<std::size_t>(written);
    }
    return true;
  }

 private:
  char text_[16 * 1024];
  std::size_t used_ = 0;
};

Answer answer;

}  // namespace

int identify(int fd) {
  // A first call makes allocators that initialise themselves late do so.
  std::free(std::calloc(1, 1));
  RunningMalloc running{nullptr, ""};
  for (const char* symbol : {"malloc", "realloc", "free", "calloc"}) {
    void* found = ::dlsym(RTLD_DEFAULT, symbol);
    Dl_info info{};
    if (found == nullptr || ::dladdr(found, &info) == 0) return 1;
    answer.add("%s=%s\n", symbol, info.dli_fname);
    running = {info.dli_fbase, info.dli_fname};
  }
  char version[64];
  const char* known_as = read_version(running, &version[0], sizeof version);
  answer.add("version=%s\nknown_as=%s\nlayout=%#" PRIx64 "\n", &version[0], known_as != nullptr ? known_as : "",
             kSampleBlockMagic);
  for_each_case([](const Case& known) {
    answer.add("case.%s=%s\nmemory.%s=%g\nforks.%s=%d\n", known.name, known.summary, known.name, known.memory,
               known.name, known.forks ? 1 : 0);
  });
  answer.add("end=%d\n", 1);
  const int to = fd == STDOUT_FILENO ? fd : inherited_file(fd, 0);
  if (to < 0) {
    probe_say("the descriptor of the answer is closed", 0);
    return kNoSampleBlock;
  }
  if (answer.write_to(to)) return 0;
  probe_say("cannot write its answer", errno);
  return kNoMachine;
}

}  // namespace zerotax
