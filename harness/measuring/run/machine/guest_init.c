// The first process of a virtual machine (--on vm:...). Loads modules, mounts the host's files, and runs one command as
// the user who requested it. Then reports the exit status and switches the machine off. The program is static, and has
// no allocator.
//
// A run by hand does nothing, because it would mount over /dev and switch the host off. The archive that
// the kernel unpacks contains a random /token, which the kernel's command line repeats (is_own_machine).
//
// The archive also contains /modules/ and /job, whose words end with zero bytes (struct job). Three ports of
// virtio-serial lead to the host: the command's standard output, its standard error, and a line for messages. The guest
// sends "up", "exit N", or "failed WHAT" on the line. A byte from the host means Ctrl-C, and the end of the line ends
// the machine.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/machine/token.h"

enum { kOut = 1, kErr, kLine, kModuleCompressed = 4, kMostWords = 4096, kJobBytes = 4 << 20 };

static int line = -1;

_Noreturn static void leave(void) {
  sync();
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

static void say(const char* text) {
  if (line < 0) return;
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t written = write(line, text, left);
    if (written <= 0) return;
    text += written;
    left -= (size_t)written;
  }
}

_Noreturn static void fail(const char* what) {
  char text[512];
  snprintf(text, sizeof text, "failed %s: %s\n", what, strerror(errno));
  say(text);
  // The message also goes to the console, because the line may not exist yet.
  fputs(text, stderr);
  leave();
}

static bool load(const char* name) {
  char path[300];
  snprintf(path, sizeof path, "/modules/%s", name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const int flags = strstr(path, ".ko.") != NULL ? kModuleCompressed : 0;
  const bool loaded = syscall(SYS_finit_module, file, "", flags) == 0 || errno == EEXIST;
  const int error = errno;
  close(file);
  errno = error;
  return loaded;
}

/// Loads all modules. Some modules depend on others, so modules that failed are tried again until no more can be
/// loaded.
static void load_modules(void) {
  struct dirent** names = NULL;
  int left = scandir("/modules", &names, NULL, alphasort);
  for (int before = left + 1; left < before;) {
    before = left;
    left = 0;
    for (int i = 0; i < before; ++i) {
      if (names[i]->d_name[0] != '.' && !load(names[i]->d_name)) names[left++] = names[i];
    }
  }
  if (left > 0) fail(names[0]->d_name);
}

/// Opens the port /dev/vport<device>p<number> of any device.
static int open_port(int number, int flags) {
  DIR* folder = opendir("/dev");
  int file = -1;
  for (const struct dirent* entry; folder != NULL && file < 0 && (entry = readdir(folder)) != NULL;) {
    unsigned device = 0;
    int port = 0;
    if (sscanf(entry->d_name, "vport%up%d", &device, &port) != 2 || port != number) continue;
    char path[300];
    snprintf(path, sizeof path, "/dev/%s", entry->d_name);
    file = open(path, flags | O_CLOEXEC);
  }
  if (folder != NULL) closedir(folder);
  return file;
}

static int port(int number, int flags) {
  // The driver creates the ports shortly after it was loaded.
  for (int tries = 0; tries < 1000; ++tries) {
    const int file = open_port(number, flags);
    if (file >= 0) return file;
    usleep(10000);
  }
  return -1;
}

static void mounted(const char* what, const char* where, const char* type, const char* options) {
  if (mount(what, where, type, 0, options) != 0) fail(where);
}

static const char kShared[] = "trans=virtio,version=9p2000.L,msize=512000,cache=loose,access=client";

/// Mounts either the programs and libraries of a tree, or everything else in the tree, below a root. Symbolic links are
/// copied.
static void take_parts(const char* tree, const char* root, bool system) {
  static const char* const kParts[] = {"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr"};
  static const char* const kOwn[] = {"proc", "sys", "dev", "run"};
  DIR* folder = opendir(tree);
  for (const struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    bool part = false;
    for (size_t i = 0; i < sizeof kParts / sizeof *kParts; ++i) part = part || strcmp(entry->d_name, kParts[i]) == 0;
    if (part != system || entry->d_name[0] == '.') continue;
    bool own = false;
    for (size_t i = 0; i < sizeof kOwn / sizeof *kOwn; ++i) own = own || strcmp(entry->d_name, kOwn[i]) == 0;
    char from[512], to[512], target[512];
    snprintf(from, sizeof from, "%s/%s", tree, entry->d_name);
    snprintf(to, sizeof to, "%s/%s", root, entry->d_name);
    struct stat status;
    if (lstat(from, &status) != 0) continue;
    const ssize_t length = S_ISLNK(status.st_mode) ? readlink(from, target, sizeof target - 1) : -1;
    if (length >= 0) {
      target[length] = '\0';
      if (symlink(target, to) != 0) fail(to);
    } else if (S_ISDIR(status.st_mode)) {
      mkdir(to, 0755);
      if (!own && mount(from, to, NULL, MS_BIND, NULL) != 0) fail(to);
    }
  }
  if (folder != NULL) closedir(folder);
}

/// Mounts the host's files, so that writes reach the host. With `system`, programs and libraries come from another
/// system's tree. /proc, /sys, /dev and /run are the machine's own.
static void take_host_files(bool system) {
  mkdir("/host", 0755);
  if (system) {
    mkdir("/all", 0755);
    mkdir("/system", 0755);
    mounted("host", "/all", "9p", kShared);
    mounted("system", "/system", "9p", kShared);
    mounted("tmpfs", "/host", "tmpfs", "mode=0755");
    take_parts("/all", "/host", false);
    take_parts("/system", "/host", true);
  } else {
    mounted("host", "/host", "9p", kShared);
  }
  mounted("proc", "/host/proc", "proc", NULL);
  mounted("sysfs", "/host/sys", "sysfs", NULL);
  mount("tracefs", "/host/sys/kernel/tracing", "tracefs", 0, NULL);
  mount("cgroup2", "/host/sys/fs/cgroup", "cgroup2", 0, NULL);
  mounted("devtmpfs", "/host/dev", "devtmpfs", NULL);
  mkdir("/host/dev/shm", 01777);
  mounted("tmpfs", "/host/dev/shm", "tmpfs", "mode=1777");
  mkdir("/host/dev/pts", 0755);
  mount("devpts", "/host/dev/pts", "devpts", 0, "ptmxmode=0666");
  if (symlink("/proc/self/fd", "/host/dev/fd") != 0 && errno != EEXIST) fail("/dev/fd");
  mounted("tmpfs", "/host/run", "tmpfs", "mode=0755");
  if (chdir("/host") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0) fail("chroot");
}

struct job {
  unsigned uid;
  unsigned gid;
  const char* folder;  ///< working directory
  bool system;         ///< whether programs and libraries come from the tree "system"
  char** environment;
  char** words;
};

static struct job read_job(void) {
  static char text[kJobBytes];
  static char* words[kMostWords + 1];
  const int file = open("/job", O_RDONLY | O_CLOEXEC);
  ssize_t length = 0;
  for (ssize_t got = 0; (got = read(file, text + length, sizeof text - 1 - (size_t)length)) > 0;) length += got;
  close(file);
  int count = 0;
  for (char* at = text; at < text + length && count < kMostWords; at += strlen(at) + 1) words[count++] = at;
  enum { kHead = 5 };
  const int variables = count >= kHead ? atoi(words[kHead - 1]) : 0;
  if (count < kHead + 1 + variables) fail("/job");
  struct job job = {(unsigned)atol(words[0]), (unsigned)atol(words[1]), words[2], *words[3] != '\0', NULL, NULL};
  job.environment = words + kHead;
  static char* arguments[kMostWords + 1];
  memcpy(arguments, words + kHead + variables, (size_t)(count - kHead - variables) * sizeof *words);
  words[kHead + variables] = NULL;
  job.words = arguments;
  return job;
}

/// Starts the command with the signal mask `before`.
static pid_t start(const struct job* job, const sigset_t* before) {
  const int out = port(kOut, O_WRONLY);
  const int err = port(kErr, O_WRONLY);
  if (out < 0 || err < 0) fail("ports");
  const pid_t pid = fork();
  if (pid != 0) {
    close(out);
    close(err);
    return pid;
  }
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, before, NULL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(out, 1);
  dup2(err, 2);
  if (chdir(job->folder) != 0 || setgroups(0, NULL) != 0 || setgid(job->gid) != 0 || setuid(job->uid) != 0) {
    dprintf(2, "zerotax: cannot become user %u in %s: %s\n", job->uid, job->folder, strerror(errno));
    _exit(3);
  }
  execve(job->words[0], job->words, job->environment);
  dprintf(2, "zerotax: cannot start %s in the virtual machine: %s\n", job->words[0], strerror(errno));
  _exit(3);
}

static volatile sig_atomic_t child_ended = 0;
static void note_end(int signal) {
  (void)signal;
  child_ended = 1;
}

/// Reads a whole file of less than `bytes` bytes. Returns false if the file does not exist or is larger.
static bool read_text(const char* path, char* text, size_t bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  size_t length = 0;
  ssize_t got = 0;
  while (length < bytes - 1 && (got = read(file, text + length, bytes - 1 - length)) > 0) length += (size_t)got;
  if (file >= 0) close(file);
  text[length] = '\0';
  return file >= 0 && got == 0;
}

/// Returns whether the kernel's command line has the option with this token.
static bool is_booted_with(const char* token) {
  enum { kLineBytes = 8192 };  // twice the longest kernel command line of any architecture
  char text[kLineBytes], option[kTokenOptionBytes];
  snprintf(option, sizeof option, "%s%s", kTokenOption, token);
  if (!read_text("/proc/cmdline", text, sizeof text)) return false;
  char* rest = text;
  for (const char* word; (word = strsep(&rest, " \n")) != NULL;) {
    if (strcmp(word, option) == 0) return true;
  }
  return false;
}

/// Returns whether this is the first process of a machine that zerotax booted. The process must be the first one of the
/// machine itself, not of a container. The kernel's command line must contain the token of the archive.
static bool is_own_machine(void) {
  enum { kInitialPidNamespace = (int)0xEFFFFFFC };  // value of PROC_PID_INIT_INO in linux/proc_ns.h
  char token[kTokenDigits + 2];
  if (getpid() != 1 || !read_text("/token", token, sizeof token) || strlen(token) != kTokenDigits) return false;
  mkdir("/proc", 0755);
  struct stat before;
  const bool there = stat("/proc/self", &before) == 0;
  if (!there && mount("proc", "/proc", "proc", 0, NULL) != 0) return false;
  struct stat space;
  const bool own =
      stat("/proc/self/ns/pid", &space) == 0 && (int)space.st_ino == kInitialPidNamespace && is_booted_with(token);
  if (!own && !there) umount("/proc");
  return own;
}

int main(void) {
  if (!is_own_machine()) {
    fputs("zerotax-guest-init: this runs only in a virtual machine that zerotax boots (--on vm:RELEASE)\n", stderr);
    return 2;
  }
  mkdir("/dev", 0755);
  mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  const int console = open("/dev/console", O_WRONLY);
  if (console >= 0) dup2(console, 2);
  load_modules();
  line = port(kLine, O_RDWR);
  if (line < 0) fail("no port of virtio-serial");
  const struct job job = read_job();
  take_host_files(job.system);
  sethostname("zerotax-vm", 10);
  say("up\n");
  struct sigaction action = {.sa_handler = note_end};
  sigaction(SIGCHLD, &action, NULL);
  // SIGCHLD is unblocked only during the wait, so that no child's end is missed.
  sigset_t children, before;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, &before);
  const pid_t child = start(&job, &before);
  if (child < 0) fail("fork");
  for (;;) {
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != child) continue;
      char text[32];
      snprintf(text, sizeof text, "exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      say(text);
      leave();
    }
    struct pollfd from = {line, POLLIN, 0};
    if (ppoll(&from, 1, NULL, &before) <= 0) continue;
    char byte = 0;
    const ssize_t got = read(line, &byte, 1);
    if (got == 1) kill(-child, SIGINT);
    if (got == 0) leave();  // the host has closed the line
  }
}
