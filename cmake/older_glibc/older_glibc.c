/* The functions of glibc 2.36 that zerotax's programs and libraries need, for systems with glibc 2.31 to 2.35.
 *
 * Each function has the name and the version that glibc gave it. The loader searches glibc first, because
 * cmake/package.py lists this library after glibc. If glibc has the version, the function in this file is not called.
 * Otherwise, a function that only moved between glibc's libraries is passed on to a version that every supported glibc
 * has. A function that is new in glibc is implemented only as far as zerotax needs it. cmake/package.py fails if a
 * program needs a function that this file lacks. Sources: the version scripts and the news of glibc. */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The version of the first glibc for a processor is the version of all functions that existed at that time. */
#if defined(__x86_64__)
#define OLD(version) version
#define JUMP_TO(name) "endbr64\n jmp *" name "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__)
#define OLD(version) "2.17"
#define JUMP_TO(name) "bti c\n adrp x16, :got:" name "\n ldr x16, [x16, :got_lo12:" name "]\n br x16\n"
#else
#error "no such processor yet"
#endif

#define OURS(name, version) __asm__(".symver our_" #name ", " #name "@@GLIBC_" version)
#define GLIBCS(name, version) __asm__(".symver old_" #name ", " #name "@GLIBC_" version)

/* Defines a function that an older glibc has in another library, with the version OLD_VERSION. The code jumps to the
   older function, so that functions such as dlsym see the original caller. */
#define PASS_ON(name, version, old_version)                                         \
  __asm__(".text\n.globl our_" #name "\n.type our_" #name ", %function\nour_" #name \
          ":\n" JUMP_TO("old_" #name) ".size our_" #name ", . - our_" #name "\n");  \
  OURS(name, version);                                                              \
  GLIBCS(name, old_version)

PASS_ON(__pthread_key_create, "2.34", OLD("2.2.5"));
PASS_ON(dladdr, "2.34", OLD("2.2.5"));
PASS_ON(dladdr1, "2.34", OLD("2.3.3"));
PASS_ON(dlclose, "2.34", OLD("2.2.5"));
PASS_ON(dlerror, "2.34", OLD("2.2.5"));
PASS_ON(dlopen, "2.34", OLD("2.2.5"));
PASS_ON(dlsym, "2.34", OLD("2.2.5"));
PASS_ON(pthread_attr_setstacksize, "2.34", OLD("2.2.5"));
PASS_ON(pthread_cond_clockwait, "2.34", "2.30");
PASS_ON(pthread_condattr_setclock, "2.34", OLD("2.3.3"));
PASS_ON(pthread_create, "2.34", OLD("2.2.5"));
PASS_ON(pthread_detach, "2.34", OLD("2.2.5"));
PASS_ON(pthread_getname_np, "2.34", OLD("2.12"));
PASS_ON(pthread_getspecific, "2.34", OLD("2.2.5"));
PASS_ON(pthread_join, "2.34", OLD("2.2.5"));
PASS_ON(pthread_key_create, "2.34", OLD("2.2.5"));
PASS_ON(pthread_key_delete, "2.34", OLD("2.2.5"));
PASS_ON(pthread_mutex_trylock, "2.34", OLD("2.2.5"));
PASS_ON(pthread_mutexattr_destroy, "2.34", OLD("2.2.5"));
PASS_ON(pthread_mutexattr_init, "2.34", OLD("2.2.5"));
PASS_ON(pthread_mutexattr_settype, "2.34", OLD("2.2.5"));
PASS_ON(pthread_once, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_destroy, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_init, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_rdlock, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_tryrdlock, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_unlock, "2.34", OLD("2.2.5"));
PASS_ON(pthread_rwlock_wrlock, "2.34", OLD("2.2.5"));
PASS_ON(pthread_setname_np, "2.34", OLD("2.12"));
PASS_ON(pthread_setspecific, "2.34", OLD("2.2.5"));
PASS_ON(pthread_sigmask, "2.32", OLD("2.2.5"));

/* 0 means that there may be several threads, so that callers take their locks. */
char our___libc_single_threaded = 0;
OURS(__libc_single_threaded, "2.32");

/* On these processors, glibc's struct stat equals the kernel's. */
int our_fstat(int file, struct stat* status) { return (int)syscall(SYS_fstat, file, status); }
OURS(fstat, "2.33");

int our_fstat64(int file, struct stat* status) __attribute__((alias("our_fstat")));
OURS(fstat64, "2.33");

int our_stat(const char* path, struct stat* status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0); }
OURS(stat, "2.33");

int our_lstat(const char* path, struct stat* status) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
OURS(lstat, "2.33");

int our_fstatat(int folder, const char* path, struct stat* status, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}
OURS(fstatat, "2.33");

const char* our_sigabbrev_np(int number) {
  static const char* const kNames[] = {
      [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
      [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",     [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
      [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2", [SIGPIPE] = "PIPE",   [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
      [SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",   [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
      [SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU", [SIGURG] = "URG",     [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ",
      [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGIO] = "POLL",   [SIGPWR] = "PWR",
      [SIGSYS] = "SYS",
  };
  return number > 0 && (size_t)number < sizeof kNames / sizeof *kNames ? kNames[number] : NULL;
}
OURS(sigabbrev_np, "2.32");

/* posix_spawn(3) of an older glibc cannot close all files from a number on, so this function adds an action for each
 * open file. An action for a file that is closed before the spawn does no harm. */
int our_posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions, int from) {
  DIR* files = opendir("/proc/self/fd");
  if (files == NULL) return errno;
  int result = 0;
  const struct dirent* each = NULL;
  while (result == 0 && (each = readdir(files)) != NULL) {
    const int file = each->d_name[0] == '.' ? -1 : atoi(each->d_name);
    if (file >= from && file != dirfd(files)) result = posix_spawn_file_actions_addclose(actions, file);
  }
  closedir(files);
  return result;
}
OURS(posix_spawn_file_actions_addclosefrom_np, "2.34");

double our_hypot(double x, double y) { return __builtin_sqrt(x * x + y * y); }
OURS(hypot, "2.35");

/* System calls for which an older glibc has no functions. */
int our_fsopen(const char* type, unsigned flags) { return (int)syscall(SYS_fsopen, type, flags); }
OURS(fsopen, "2.36");

int our_fsmount(int context, unsigned flags, unsigned attributes) {
  return (int)syscall(SYS_fsmount, context, flags, attributes);
}
OURS(fsmount, "2.36");

int our_fsconfig(int context, unsigned command, const char* key, const void* value, int extra) {
  return (int)syscall(SYS_fsconfig, context, command, key, value, extra);
}
OURS(fsconfig, "2.36");

uint32_t our_arc4random(void) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
  return number;
}
OURS(arc4random, "2.36");

/* libgcc and libzerotax-record search for the object at an address. */
struct Sought {
  uintptr_t address;
  struct dl_find_object* found;
};

/* Returns 1 and the object's data if this object contains the address. The loader does not change its list of objects
   while the callback runs. */
static int look_into(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size;
  const struct Sought* sought = argument;
  struct dl_find_object found = {.dlfo_map_start = (void*)UINTPTR_MAX};
  uintptr_t dynamic = 0;
  int is_here = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* each = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + each->p_vaddr;
    const uintptr_t end = begin + each->p_memsz;
    if (each->p_type == PT_GNU_EH_FRAME) found.dlfo_eh_frame = (void*)begin;
    if (each->p_type == PT_DYNAMIC) dynamic = begin;
    if (each->p_type != PT_LOAD) continue;
    if (begin < (uintptr_t)found.dlfo_map_start) found.dlfo_map_start = (void*)(begin & -(uintptr_t)each->p_align);
    if (end > (uintptr_t)found.dlfo_map_end) found.dlfo_map_end = (void*)end;
    is_here |= sought->address >= begin && sought->address < end;
  }
  if (!is_here) return 0;
  struct link_map* map = _r_debug.r_map;
  while (map != NULL && (uintptr_t)map->l_ld != dynamic) map = map->l_next;
  if (map == NULL) return -1;
  found.dlfo_link_map = map;
  *sought->found = found;
  return 1;
}

int our__dl_find_object(void* address, struct dl_find_object* found) {
  struct Sought sought = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &sought) == 1 ? 0 : -1;
}
OURS(_dl_find_object, "2.35");

/* Since 2.34, glibc itself calls the initializers of a program before main. Before 2.34, each program contained the
 * code that calls its initializers, and passed that code to glibc. */
typedef void Initialise(int count, char** words, char** environment);
typedef int Main(int count, char** words, char** environment);

static void initialise(int count, char** words, char** environment) {
  const struct link_map* program = _r_debug.r_map; /* the first loaded object */
  Initialise* first = NULL;
  Initialise** array = NULL;
  size_t bytes = 0;
  for (const ElfW(Dyn)* each = program->l_ld; each->d_tag != DT_NULL; ++each) {
    if (each->d_tag == DT_INIT) first = (Initialise*)(program->l_addr + each->d_un.d_ptr);
    if (each->d_tag == DT_INIT_ARRAY) array = (Initialise**)(program->l_addr + each->d_un.d_ptr);
    if (each->d_tag == DT_INIT_ARRAYSZ) bytes = each->d_un.d_val;
  }
  if (first != NULL) first(count, words, environment);
  for (size_t i = 0; array != NULL && i < bytes / sizeof *array; ++i) array[i](count, words, environment);
}

int old___libc_start_main(Main* run, int count, char** words, Initialise* before, void (*after)(void),
                          void (*loader)(void), void* stack);
GLIBCS(__libc_start_main, OLD("2.2.5"));

int our___libc_start_main(Main* run, int count, char** words, Initialise* before, void (*after)(void),
                          void (*loader)(void), void* stack) {
  (void)before;
  return old___libc_start_main(run, count, words, initialise, after, loader, stack);
}
OURS(__libc_start_main, "2.34");
