#include "process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "control.h"
#include "lock.h"
#include "metadata.h"
#include "page.h"
#include "ring.h"
#include "say.h"
#include "thread.h"

namespace zerotax::recorder {
namespace {

enum Mark : unsigned { kWiped = 0, kChanging = 1, kMarked = 2 };

/// Points into a page that is zero in a forked child.
std::atomic<unsigned>* mark = nullptr;

void reset() {
  drop_rings_of_parent(own_ring());
  process.generation.fetch_add(1);
  process.folder[0] = '\0';
  process.lost.store(0);
  process.lost_of_ended.store(0);
  process.untold.store(0);
  process.drain_runs = false;
  process.triggered.store(0);
  forget_control();
  // A child gets no recorder thread, because the child may fork, unshare or exec. The child's threads write their own
  // packets.
  if (drain_of(process.settings) == ZEROTAX_TRACE_DRAIN_THREAD) set_drain(process.settings, ZEROTAX_TRACE_DRAIN_SELF);
  // Threads that exist only in the parent may hold the locks.
  process.registry_lock = PTHREAD_MUTEX_INITIALIZER;
  process.drain_lock = PTHREAD_MUTEX_INITIALIZER;
  process.start_stop_lock = PTHREAD_MUTEX_INITIALIZER;
  forget_troubles();
}

int make_folders(char* path) {
  for (char* slash = std::strchr(path + 1, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool failed = ::mkdir(path, 0777) != 0 && errno != EEXIST;
    *slash = '/';
    if (failed && errno != EROFS && errno != EACCES) return errno;
  }
  return ::mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

constinit Process process;

int mark_process() {
  if (mark == nullptr) {
    void* page = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return errno;
    if (::madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) return errno;
    mark = static_cast<std::atomic<unsigned>*>(page);
  }
  mark->store(kMarked);
  return 0;
}

bool is_marked() { return mark != nullptr && mark->load(std::memory_order_acquire) == kMarked; }

void become_child() {
  if (mark == nullptr || mark->load(std::memory_order_acquire) == kMarked) return;
  const SignalBlock block;
  unsigned found = kWiped;
  if (mark->compare_exchange_strong(found, kChanging)) {
    reset();
    mark->store(kMarked, std::memory_order_release);
  }
  while (mark->load(std::memory_order_acquire) != kMarked) ::sched_yield();
}

int make_folder() {
  if (process.folder[0] != '\0') return 0;
  static char path[PATH_MAX];  // static, because a handler's stack may be small; registry_lock is held
  std::snprintf(path, sizeof path, "%s", process.settings.directory);
  int failure = make_folders(path);
  // A program with the same PID may have left a folder: the program before an exec, or a program in another container.
  for (int number = 1; failure == 0; ++number) {
    char name[64];
    std::snprintf(name, sizeof name, number == 1 ? "/process-%d" : "/process-%d.%d", ::getpid(), number);
    std::snprintf(path, sizeof path, "%.3968s%s", process.settings.directory, name);
    if (::mkdir(path, 0777) == 0) break;
    if (errno != EEXIST) failure = errno;
  }
  if (failure == 0) {
    if (::getrandom(process.uuid, sizeof process.uuid, 0) < 0) std::memcpy(process.uuid, &process.clock.begin, 16);
    std::memcpy(process.folder, path, sizeof path);
    calibrate(process.clock);  // a child inherits its parent's clock
    failure = begin_metadata();
    if (failure != 0) process.folder[0] = '\0';
  }
  if (failure != 0 && first_time(Trouble::kBuffer)) {
    say("no trace can be written to '%s': %s; make room or name another folder in ZEROTAX_TRACE_DIR",
        process.settings.directory, std::strerror(failure));
  }
  return failure;
}

void remove_folder() {
  static char path[PATH_MAX];  // static, because a handler's stack may be small; registry_lock is held
  std::snprintf(path, sizeof path, "%.4000s/metadata", process.folder);
  ::unlink(path);
  ::rmdir(process.folder);
  process.folder[0] = '\0';
}

}  // namespace zerotax::recorder
