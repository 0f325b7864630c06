"""A program whose functions, source files, threads and file have nasty names."""

import os
import subprocess

from nasty_names import FILE, NASTY, SHORT

NAMES = list(NASTY.values())
# Each function zeroes a block by calloc and by memset, and uses the CPU for a while.
FUNCTION = """
#line 1 "%s"
__attribute__((noinline)) void evil%d(void) {
  char *block = calloc(1, 1 << 20);
  for (int i = 0; i < ROUNDS; ++i) memset(block, keep, 1 << 20);
  for (int i = 0; i < 1 << 20; i += 4096) { block[i] = 1; }
  sink = block; free(block);
}
"""
MAIN = """
static void *work(void *name) { prctl(PR_SET_NAME, name); for (int n = 0; n < COUNT; ++n) functions[n](); return 0; }
int main(int argc, char **argv) {
  if (fork() == 0) { prctl(PR_SET_NAME, names[1]); work(names[0]); _exit(0); }
  wait(0);
  for (int repeat = 0; repeat < REPEATS || argc > 2; ++repeat) {
    for (unsigned n = 0; n < sizeof names / sizeof *names; ++n) {
      pthread_t thread;
      pthread_create(&thread, 0, work, names[n]);
      pthread_join(thread, 0);
    }
    prctl(PR_SET_NAME, names[2]);
  }
  return 0;
}
"""
HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static char *volatile sink; static volatile int keep;
"""


def in_c(name):
    return "".join(f"\\{byte:03o}" for byte in name)


def build(folder, rounds, repeats=1):
    """Builds the program in a folder. The functions, source files and threads, and the program file, have nasty names.
    """
    functions = "".join(FUNCTION % (in_c(each), n) for n, each in enumerate(NAMES))
    table = ", ".join(f"evil{n}" for n in range(len(NAMES)))
    names = ", ".join(f'"{in_c(each)}"' for each in SHORT)
    text = (f"#define ROUNDS {rounds}\n#define REPEATS {repeats}\n#define COUNT {len(NAMES)}\n{HEAD}{functions}\n"
            f"#line 1 \"main.c\"\n"
            f"static void (*const functions[])(void) = {{{table}}};\nstatic char *const names[] = {{{names}}};\n{MAIN}")
    (folder / "plain.c").write_text(text)
    subprocess.run(["gcc", "-O0", "-g", "-fno-builtin", "-pthread", "-w", "plain.c", "-o", "plain"], cwd=folder, check=True)
    symbols = [word for n, each in enumerate(NAMES)
               for word in (b"--redefine-sym", f"evil{n}=".encode() + each)]
    subprocess.run([b"objcopy", *symbols, b"plain", FILE], cwd=folder, check=True)
    return os.path.join(os.fsencode(folder), FILE)


def build_slow(folder):
    """Builds a program whose functions run long enough to be sampled."""
    return build(folder, 200)
