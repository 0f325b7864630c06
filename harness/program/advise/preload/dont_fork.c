// A library that advise preloads to try madvise(MADV_DONTFORK) on large blocks of the allocator. Its constructor reads
// the mode from ZEROTAX_BEFORE_FORK:
//   dontfork  Each large block gets MADV_DONTFORK. If a child of fork uses a block, the child and its parent are
//             killed, so that the trial fails.
//   note      Children of fork keep their blocks, but the first access to a block is written to ZEROTAX_FORK_NOTES.
// madvise and mprotect cover only whole pages within a block, so that children keep the allocator's data beside the
// block.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { kLargeBytes = 1 << 20, kMostBlocks = 5000 };

struct Block {
  char* begin;  // the first whole page
  size_t bytes;
};

static struct Block blocks[kMostBlocks];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { kOff, kNote, kDontFork } mode;
static int in_child;
static size_t noted_bytes;
static pid_t forker;  // the process that called fork
static struct sigaction before;

static void* (*real_malloc)(size_t);
static void* (*real_calloc)(size_t, size_t);
static void* (*real_realloc)(void*, size_t);
static void (*real_free)(void*);
static int (*real_posix_memalign)(void**, size_t, size_t);
static void* (*real_aligned_alloc)(size_t, size_t);
static void* (*real_memalign)(size_t, size_t);
static size_t (*real_usable_size)(void*);

// Memory for calls of calloc by dlsym itself.
static char early[5000] __attribute__((aligned(16)));
static size_t early_used;
static int is_resolving;

static void resolve(void) {
  if (real_usable_size != NULL || is_resolving) return;
  is_resolving = 1;
  *(void**)&real_malloc = dlsym(RTLD_NEXT, "malloc");
  *(void**)&real_calloc = dlsym(RTLD_NEXT, "calloc");
  *(void**)&real_realloc = dlsym(RTLD_NEXT, "realloc");
  *(void**)&real_free = dlsym(RTLD_NEXT, "free");
  *(void**)&real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  *(void**)&real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  *(void**)&real_memalign = dlsym(RTLD_NEXT, "memalign");
  *(void**)&real_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
  is_resolving = 0;
}

static int is_early(const void* block) {
  return (const char*)block >= early && (const char*)block < early + sizeof early;
}

static void note(const char* what, size_t bytes) {
  const char* const file = getenv("ZEROTAX_FORK_NOTES");
  const int fd = file == NULL ? -1 : open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char line[64];
  const int length = snprintf(line, sizeof line, "blocks %s %zu\n", what, bytes);
  (void)!write(fd, line, (size_t)length);
  close(fd);
}

// Ends a child that uses a block, and kills the child's parent, so that the trial fails. The parent's PID is checked,
// because the parent may have ended.
static void end_trial(void) {
  static const char words[] = "zerotax: a child of fork uses a block with MADV_DONTFORK\n";
  (void)!write(STDERR_FILENO, words, sizeof words - 1);
  if (getppid() == forker) kill(forker, SIGKILL);
  _exit(127);
}

static void make_accessible(void) {
  for (size_t i = 0; i < used; ++i) mprotect(blocks[i].begin, blocks[i].bytes, PROT_READ | PROT_WRITE);
  used = 0;
}

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)context;
  const char* const at = info->si_addr;
  for (size_t i = 0; i < used; ++i) {
    if (at < blocks[i].begin || at >= blocks[i].begin + blocks[i].bytes) continue;
    if (mode == kDontFork) end_trial();
    const int saved = errno;
    note("read", blocks[i].bytes);
    make_accessible();
    errno = saved;
    return;
  }
  sigaction(number, &before, NULL);  // The faulting instruction runs again.
}

static void before_fork(void) {
  pthread_mutex_lock(&lock);
  forker = getpid();
  size_t bytes = 0;
  for (size_t i = 0; i < used; ++i) bytes += blocks[i].bytes;
  if (mode == kNote && !in_child && bytes > noted_bytes) note("fork", noted_bytes = bytes);
}

static void after_fork_in_parent(void) { pthread_mutex_unlock(&lock); }

static void after_fork_in_child(void) {
  pthread_mutex_unlock(&lock);
  if (in_child) return;
  in_child = 1;
  if (used == 0) return;
  for (size_t i = 0; i < used; ++i) {
    const struct Block block = blocks[i];
    if (mode == kNote) {
      mprotect(block.begin, block.bytes, PROT_NONE);
    } else {
      // Without this mapping, a later mapping of the child could take the addresses.
      mmap(block.begin, block.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
           0);
    }
  }
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigaction(SIGSEGV, &action, &before);
}

__attribute__((constructor)) static void begin(void) {
  resolve();
  const char* const change = getenv("ZEROTAX_BEFORE_FORK");
  if (change == NULL) return;
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) return;
  mode = strcmp(change, "note") == 0 ? kNote : strcmp(change, "dontfork") == 0 ? kDontFork : kOff;
}

// Adds a block to the list if the block is large.
static void* marked(void* block) {
  if (mode == kOff || in_child || block == NULL) return block;
  const size_t bytes = real_usable_size(block);
  if (bytes < kLargeBytes) return block;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = ((uintptr_t)block + page - 1) & ~(page - 1);
  const uintptr_t end = ((uintptr_t)block + bytes) & ~(page - 1);
  const int saved = errno;
  pthread_mutex_lock(&lock);
  if (used < kMostBlocks && (mode == kNote || madvise((void*)first, end - first, MADV_DONTFORK) == 0)) {
    blocks[used++] = (struct Block){(char*)first, end - first};
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
  return block;
}

// Removes a block from the list before free or realloc. With `needs_contents`, the allocator may copy the block, which
// counts as an access.
static void unmark(void* block, int needs_contents) {
  if (mode == kOff || block == NULL || used == 0 || real_usable_size(block) < kLargeBytes) return;
  const int saved = errno;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < used; ++i) {
    struct Block* const each = &blocks[i];
    if (each->begin < (char*)block || (size_t)(each->begin - (char*)block) >= (size_t)sysconf(_SC_PAGESIZE)) continue;
    if (!in_child) {
      if (mode == kDontFork) madvise(each->begin, each->bytes, MADV_DOFORK);
    } else if (mode == kNote) {
      if (needs_contents) note("read", each->bytes);
      mprotect(each->begin, each->bytes, PROT_READ | PROT_WRITE);
    } else {
      if (needs_contents) end_trial();
      mmap(each->begin, each->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    *each = blocks[--used];
    break;
  }
  pthread_mutex_unlock(&lock);
  errno = saved;
}

EXPORT void* malloc(size_t bytes) {
  resolve();
  return real_malloc == NULL ? calloc(1, bytes) : marked(real_malloc(bytes));
}

EXPORT void* calloc(size_t count, size_t bytes) {
  resolve();
  if (real_calloc != NULL) return marked(real_calloc(count, bytes));
  const size_t all = (count * bytes + 15) & ~(size_t)15;
  if (all > sizeof early - early_used) return NULL;
  early_used += all;
  return early + early_used - all;
}

EXPORT void* realloc(void* block, size_t bytes) {
  resolve();
  unmark(block, 1);
  void* const moved = real_realloc(block, bytes);
  if (moved == NULL && bytes != 0) marked(block);  // The block goes back on the list.
  return marked(moved);
}

EXPORT void free(void* block) {
  resolve();
  if (is_early(block)) return;
  unmark(block, 0);
  real_free(block);
}

EXPORT int posix_memalign(void** block, size_t alignment, size_t bytes) {
  resolve();
  const int status = real_posix_memalign(block, alignment, bytes);
  if (status == 0) marked(*block);
  return status;
}

EXPORT void* aligned_alloc(size_t alignment, size_t bytes) {
  resolve();
  return marked(real_aligned_alloc(alignment, bytes));
}

EXPORT void* memalign(size_t alignment, size_t bytes) {
  resolve();
  return marked(real_memalign(alignment, bytes));
}
