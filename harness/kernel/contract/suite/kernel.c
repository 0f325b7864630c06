#define _GNU_SOURCE
#include "contract/suite/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/suite/suite.h"

extern bool in_the_child;

long kernel(long number, long a, long b, long c, long d, long e, long f) {
#ifdef ZEROTAX_CONTRACT_LIES
  return lying_kernel(number, a, b, c, d, e, f);
#else
  return syscall(number, a, b, c, d, e, f);
#endif
}

struct word {
  int value;
  const char* name;
};

// The names of flags, as in "A | B"; a flag without a name is a number. The text stays valid until the fourth call
// after this one.
static const char* flag_text(int flags, const struct word* words, size_t count, const char* none) {
  static char texts[4][120];
  static unsigned next;
  char* text = texts[next++ % 4];
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < count; ++i) {
    if ((flags & words[i].value) != words[i].value) continue;
    used += (size_t)snprintf(text + used, sizeof texts[0] - used, "%s%s", used == 0 ? "" : " | ", words[i].name);
    flags &= ~words[i].value;
  }
  if (flags != 0) {
    snprintf(text + used, sizeof texts[0] - used, "%s0x%x", used == 0 ? "" : " | ", (unsigned)flags);
  } else if (used == 0) {
    return none;
  }
  return text;
}

static const char* protection(int prot) {
  static const struct word kWords[] = {{PROT_READ, "PROT_READ"}, {PROT_WRITE, "PROT_WRITE"}};
  return flag_text(prot, kWords, 2, "PROT_NONE");
}

static const char* mapping(int flags) {
  static const struct word kWords[] = {{MAP_SHARED, "MAP_SHARED"},       {MAP_PRIVATE, "MAP_PRIVATE"},
                                       {MAP_FIXED, "MAP_FIXED"},         {MAP_ANONYMOUS, "MAP_ANONYMOUS"},
                                       {MAP_POPULATE, "MAP_POPULATE"},   {MAP_LOCKED, "MAP_LOCKED"},
                                       {MAP_NORESERVE, "MAP_NORESERVE"}, {MAP_HUGETLB, "MAP_HUGETLB"}};
  return flag_text(flags, kWords, sizeof kWords / sizeof kWords[0], "0");
}

static const char* advice_text(int advice) {
  static const struct word kWords[] = {{MADV_DONTNEED, "MADV_DONTNEED"}, {kFree, "MADV_FREE"},
                                       {kRemove, "MADV_REMOVE"},         {kHugePage, "MADV_HUGEPAGE"},
                                       {kMergeable, "MADV_MERGEABLE"},   {kWipeOnFork, "MADV_WIPEONFORK"},
                                       {kKeepOnFork, "MADV_KEEPONFORK"}};
  static const struct word kRecent[] = {{kCold, "MADV_COLD"},
                                        {kPageOut, "MADV_PAGEOUT"},
                                        {kPopulateRead, "MADV_POPULATE_READ"},
                                        {kPopulateWrite, "MADV_POPULATE_WRITE"},
                                        {kDontNeedLocked, "MADV_DONTNEED_LOCKED"},
                                        {kCollapse, "MADV_COLLAPSE"},
                                        {kGuardInstall, "MADV_GUARD_INSTALL"},
                                        {kGuardRemove, "MADV_GUARD_REMOVE"}};
  static char text[48];
  for (size_t i = 0; i < sizeof kWords / sizeof kWords[0]; ++i) {
    if (kWords[i].value == advice) return kWords[i].name;
  }
  // Older headers lack these names, so the program contains each flag as a number, with the name beside it.
  for (size_t i = 0; i < sizeof kRecent / sizeof kRecent[0]; ++i) {
    if (kRecent[i].value == advice) snprintf(text, sizeof text, "%d /* %s */", advice, kRecent[i].name);
  }
  return text;
}

// In a test of a limit, a call may succeed that should fail. The program then keeps the call's result as a number, for
// comparison.
static void note_success(const void* p) {
  if (p != MAP_FAILED && (report->helpers & kNeedsLimit) != 0) step("r = (long)%s;", place(p));
}

void* k_mmap(void* at, size_t bytes, int prot, int flags, int fd, off_t offset) {
  char where[64];
  snprintf(where, sizeof where, "%s", place(at));
  char call[sizeof report->last_step];
  snprintf(call, sizeof call, "mmap(%s, %zu, %s, %s, %s, %ld);", where, bytes, protection(prot), mapping(flags),
           fd < 0 ? "-1" : "fd", (long)offset);
  note_step(call);  // noted before the call, so that the report can name a call that hangs
  void* p = (void*)kernel(SYS_mmap, (long)at, (long)bytes, prot, flags, fd, offset);
  const int error = errno;
  if (p == MAP_FAILED) {
    step("r = (long)%s", call);
  } else {
    name_memory(p, bytes);
    step("unsigned char* %s = %s", place(p), call);
  }
  note_success(p);
  errno = error;
  return p;
}

int k_munmap(void* p, size_t bytes) {
  step("munmap(%s, %zu);", place(p), bytes);
  return (int)kernel(SYS_munmap, (long)p, (long)bytes, 0, 0, 0, 0);
}

void* k_mremap(void* p, size_t old_bytes, size_t new_bytes, int flags, void* to) {
  char from[64];
  snprintf(from, sizeof from, "%s", place(p));
  void* now_at = (void*)kernel(SYS_mremap, (long)p, (long)old_bytes, (long)new_bytes, flags, (long)to, 0);
  const int error = errno;
  if (now_at == MAP_FAILED) {
    step("r = (long)mremap(%s, %zu, %zu, %d);", from, old_bytes, new_bytes, flags);
  } else {
    char target[64] = "";
    if ((flags & MREMAP_FIXED) != 0) snprintf(target, sizeof target, ", %s", place(to));
    name_memory(now_at, new_bytes);
    step("unsigned char* %s = mremap(%s, %zu, %zu, %d%s);", place(now_at), from, old_bytes, new_bytes, flags, target);
    note_success(now_at);
  }
  errno = error;
  return now_at;
}

int k_madvise(void* p, size_t bytes, int advice) {
  step("r = madvise(%s, %zu, %s);", place(p), bytes, advice_text(advice));
  return (int)kernel(SYS_madvise, (long)p, (long)bytes, advice, 0, 0, 0);
}

int k_mprotect(void* p, size_t bytes, int prot) {
  step("r = mprotect(%s, %zu, %s);", place(p), bytes, protection(prot));
  return (int)kernel(SYS_mprotect, (long)p, (long)bytes, prot, 0, 0, 0);
}

int k_mlock(void* p, size_t bytes) {
  step("r = mlock(%s, %zu);", place(p), bytes);
  return (int)kernel(SYS_mlock, (long)p, (long)bytes, 0, 0, 0, 0);
}

void* k_brk(void* to) {
  char where[64];
  snprintf(where, sizeof where, "%s", to == NULL ? "0" : place(to));
  void* end = (void*)kernel(SYS_brk, (long)to, 0, 0, 0, 0, 0);
  if (to == NULL) {
    name_memory(end, (size_t)256 << 20);
    step("unsigned char* %s = (unsigned char*)syscall(SYS_brk, 0);", place(end));
  } else {
    step("r = syscall(SYS_brk, %s);", where);
  }
  return end;
}

int k_memfd(void) {
  step("int fd = memfd_create(\"contract\", MFD_CLOEXEC);");
  return (int)kernel(SYS_memfd_create, (long)"contract", kMemfdCloexec, 0, 0, 0, 0);
}

int k_truncate(int fd, off_t bytes) {
  step("r = ftruncate(fd, %ld);", (long)bytes);
  return (int)kernel(SYS_ftruncate, fd, bytes, 0, 0, 0, 0);
}

int k_punch(int fd, off_t offset, off_t bytes) {
  step("r = fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, %ld, %ld);", (long)offset, (long)bytes);
  return (int)kernel(SYS_fallocate, fd, kFallocKeepSize | kFallocPunchHole, offset, bytes, 0, 0);
}

ssize_t k_pread(int fd, void* to, size_t bytes, off_t offset) {
  step("r = pread(fd, %s, %zu, %ld);", place(to), bytes, (long)offset);
  return kernel(SYS_pread64, fd, (long)to, (long)bytes, offset, 0, 0);
}

ssize_t k_pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  step("r = pwrite(fd, %s, %zu, %ld);", place(from), bytes, (long)offset);
  return kernel(SYS_pwrite64, fd, (long)from, (long)bytes, offset, 0, 0);
}

int k_limit_address_space(bool limited) {
  report->helpers |= kNeedsLimit;
  step("limit(%d);", limited ? 1 : 0);
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0) return -1;
  limit.rlim_cur = limited ? 4096 : limit.rlim_max;
  return setrlimit(RLIMIT_AS, &limit);
}

static bool write_text(const char* folder, const char* file, const char* text) {
  char path[192];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  close(fd);
  return done;
}

// Versions 1 and 2 of cgroups store the limit in files of different names.
bool k_join_cgroup(size_t bytes) {
  static const struct {
    const char* root;
    const char* limit;
  } kVersions[] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}};
  report->helpers |= kNeedsCgroup;
  step("join_cgroup(%zu);", bytes);
  char limit[24];
  snprintf(limit, sizeof limit, "%zu", bytes);
  for (size_t i = 0; i < sizeof kVersions / sizeof kVersions[0]; ++i) {
    snprintf(report->cgroup, sizeof report->cgroup, "%s/zerotax-contract-%d", kVersions[i].root, (int)getpid());
    if (mkdir(report->cgroup, 0755) != 0) continue;
    if (write_text(report->cgroup, kVersions[i].limit, limit) && write_text(report->cgroup, "cgroup.procs", "0")) {
      return true;
    }
    rmdir(report->cgroup);
  }
  report->cgroup[0] = 0;
  return false;
}

long k_ioctl(int fd, unsigned long request, void* argument) {
  return kernel(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

int k_userfaultfd(void) {
  report->helpers |= kNeedsUserfault;
  return (int)kernel(SYS_userfaultfd, O_CLOEXEC | kUserModeOnly, 0, 0, 0, 0, 0);
}

int k_open_pagemap(void) {
  step("int fd = open(\"/proc/self/pagemap\", O_RDONLY);");
  return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

uint64_t k_pagemap_entry(int fd, const void* p) {
  report->helpers |= kNeedsPagemap;
  uint64_t word = 0;
  const off_t offset = (off_t)((uintptr_t)p / page * 8);
  need(kernel(SYS_pread64, fd, (long)&word, 8, offset, 0, 0) == 8, "reading /proc/self/pagemap");
  return word;
}

pid_t k_fork(void) {
#ifdef ZEROTAX_CONTRACT_LIES
  lie_before_fork();
#endif
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef ZEROTAX_CONTRACT_LIES
    lie_in_child();
#endif
  }
  return pid;
}

unsigned char* map_pages(size_t pages) {
  void* p = k_mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(p != MAP_FAILED, "mmap");
  return p;
}

unsigned char* written_pages(size_t pages) {
  unsigned char* p = map_pages(pages);
  fill(p, pages * page, kPattern);
  return p;
}

long number_in(const char* path) {
  char text[32] = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  return got > 0 ? strtol(text, NULL, 10) : -1;
}

void in_child(void (*child)(void* data), void (*meanwhile)(void* data), void* data) {
  int ends[2] = {-1, -1};
  char go = 0;
  if (meanwhile != NULL) {
    step("if (pipe(p)) return 2;");
    need(pipe(ends) == 0, "pipe");
  }
  step("if (fork() == 0) {");
  step("@child");
  const pid_t pid = k_fork();
  need(pid >= 0, "fork");
  if (pid == 0) {
    in_the_child = true;
    if (meanwhile != NULL) {
      close(ends[1]);  // if this end of the pipe stayed open, the read below would not return when the parent exits
      step("if (read(p[0], &c, 1) != 1) _exit(2);");
      if (read(ends[0], &go, 1) != 1) _exit(1);
    }
    child(data);
    step("_exit(0);");
    _exit(0);
  }
  if (meanwhile != NULL) {
    step("}");
    meanwhile(data);
    step("if (write(p[1], \"\", 1) != 1) return 2;");
    if (write(ends[1], &go, 1) != 1) kill(pid, SIGKILL);
    close(ends[0]);
    close(ends[1]);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (meanwhile == NULL) step("}");
  step("if (wait(&status) < 0 || status != 0) return 1;");
  if (report->verdict != kNotDone) _exit(1);
  // The kernel kills a process if memory runs out, and users may kill a process, too. A process that was killed is not
  // a finding.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    not_testable("a forked child was killed from outside (out of memory?) in: %s", report->last_step);
  }
  if (WIFSIGNALED(status)) broken("a forked child was killed by signal %d in: %s", WTERMSIG(status), report->last_step);
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child");
}
