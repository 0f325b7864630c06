// Tests of holes in files that live in memory: memfd, tmpfs and shared mappings.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static int memfd_of(size_t pages) {
  const int fd = k_memfd();
  supported(fd >= 0, "memfd_create");
  need(k_truncate(fd, (off_t)(pages * page)) == 0, "ftruncate");
  return fd;
}

static unsigned char* map_file(int fd, size_t pages) {
  void* p = k_mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(p != MAP_FAILED, "mmap of a file");
  return p;
}

static void sparse(void) {
  const int fd = memfd_of(64);
  unsigned char* bytes = written_pages(64);
  need(k_pread(fd, bytes, 64 * page, 0) == (ssize_t)(64 * page), "pread");
  expect(bytes, 64 * page, 0, "read from a file of holes");
  unsigned char* p = map_file(fd, 64);
  set_byte(p + 10 * page, kOther);
  expect(p, 10 * page, 0, "in a mapping of a file of holes");
  expect(p + 11 * page, 53 * page, 0, "in a mapping of a file of holes");
}

static void punched(void) {
  const int fd = memfd_of(32);
  unsigned char* p = map_file(fd, 32);
  unsigned char* also = map_file(fd, 32);
  fill(p, 32 * page, kPattern);
  expect(also, 32 * page, kPattern, "in a second mapping");
  supported(k_punch(fd, (off_t)(4 * page), (off_t)(8 * page)) == 0, "fallocate(FALLOC_FL_PUNCH_HOLE)");
  expect(p + 4 * page, 8 * page, 0, "in a hole that was punched");
  expect(also + 4 * page, 8 * page, 0, "in a hole that was punched, in a second mapping");
  expect(p, 4 * page, kPattern, "in front of a hole that was punched");
  expect(p + 12 * page, 20 * page, kPattern, "behind a hole that was punched");
}

static void punched_oddly(void) {
  const int fd = memfd_of(8);
  unsigned char* p = map_file(fd, 8);
  fill(p, 8 * page, kPattern);
  supported(k_punch(fd, (off_t)(page + 100), (off_t)(3 * page)) == 0, "fallocate(FALLOC_FL_PUNCH_HOLE)");
  expect(p + page + 100, 3 * page, 0, "in a hole of parts of pages");
  expect(p, page + 100, kPattern, "in front of a hole of parts of pages");
  expect(p + 4 * page + 100, 4 * page - 100, kPattern, "behind a hole of parts of pages");
}

static void regrown(void) {
  const int fd = memfd_of(16);
  unsigned char* p = map_file(fd, 16);
  fill(p, 16 * page, kPattern);
  need(k_truncate(fd, (off_t)(4 * page + 100)) == 0, "ftruncate");
  need(k_truncate(fd, (off_t)(16 * page)) == 0, "ftruncate");
  expect(p, 4 * page + 100, kPattern, "in the part of a file that stayed");
  expect(p + 4 * page + 100, 12 * page - 100, 0, "in the part of a file that was cut off and came back");
}

static void removed(void) {
  unsigned char* p = k_mmap(NULL, 32 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(p != MAP_FAILED, "mmap with MAP_SHARED");
  fill(p, 32 * page, kPattern);
  supported(k_madvise(p + 4 * page, 8 * page, kRemove) == 0, "madvise(MADV_REMOVE)");
  expect(p + 4 * page, 8 * page, 0, "after MADV_REMOVE");
  expect(p, 4 * page, kPattern, "in front of MADV_REMOVE");
  expect(p + 12 * page, 20 * page, kPattern, "behind MADV_REMOVE");
}

// Opens a new file in the first of these folders that accepts a file. A folder need not be tmpfs, and need not exist.
static int tmpfs_file(void) {
  static const char* const kPaths[] = {"/dev/shm/contract-XXXXXX", "/run/contract-XXXXXX", "/tmp/contract-XXXXXX"};
  for (size_t i = 0; i < sizeof kPaths / sizeof kPaths[0]; ++i) {
    char path[40];
    snprintf(path, sizeof path, "%s", kPaths[i]);
    const int fd = mkstemp(path);
    if (fd < 0) continue;
    unlink(path);
    step("char path[] = \"%s\";", kPaths[i]);
    step("int fd = mkstemp(path);");
    step("unlink(path);");
    return fd;
  }
  not_testable("no file can be made in /dev/shm, /run or /tmp");
}

static void in_tmpfs(void) {
  const int fd = tmpfs_file();
  need(k_truncate(fd, (off_t)(16 * page)) == 0, "ftruncate");
  unsigned char* p = map_file(fd, 16);
  expect(p, 16 * page, 0, "in a new file");
  fill(p, 16 * page, kPattern);
  supported(k_punch(fd, (off_t)(4 * page), (off_t)(4 * page)) == 0, "fallocate(FALLOC_FL_PUNCH_HOLE)");
  expect(p + 4 * page, 4 * page, 0, "in a hole of a file");
  need(k_truncate(fd, (off_t)(10 * page)) == 0, "ftruncate");
  need(k_truncate(fd, (off_t)(16 * page)) == 0, "ftruncate");
  expect(p + 10 * page, 6 * page, 0, "in a part of a file that was cut off and came back");
}

static void private_hole(void) {
  const int fd = memfd_of(8);
  unsigned char* file = map_file(fd, 8);
  fill(file, 8 * page, kPattern);
  unsigned char* p = k_mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  need(p != MAP_FAILED, "mmap of a file");
  fill(p, 4 * page, kOther);
  supported(k_punch(fd, 0, (off_t)(8 * page)) == 0, "fallocate(FALLOC_FL_PUNCH_HOLE)");
  expect(p, 4 * page, kOther, "in private copies of a file's pages, whose file got a hole");
  expect(p + 4 * page, 4 * page, 0, "in private pages that were not copied, whose file got a hole");
}

const struct promise kFilePromises[] = {
    {"memfd-sparse", "The holes of a memfd read as zeros, by a mapping and by read.",
     "zerotax: harness/measuring/files/shared_file.cc; QEMU: hostmem-memfd.c", sparse},
    {"punch-hole", "A hole that fallocate punched reads as zeros in every mapping, and nothing beside it changes.",
     "QEMU: ram_block_discard_range", punched},
    {"punch-odd", "A hole that begins and ends within pages is zero to the byte.",
     "systemd: journal_file_entry_array_punch_hole", punched_oddly},
    {"punch-private", "A hole in a file leaves private copies of its pages alone.",
     "QEMU: ram_block_discard_range, which discards those by MADV_DONTNEED", private_hole},
    {"memfd-regrown", "A part of a file that was cut off and came back reads as zeros, to the byte.",
     "SQLite: unixLockSharedMemory, which cuts the wal-index to 3 bytes", regrown},
    {"remove", "After MADV_REMOVE, shared memory reads as zeros.",
     "QEMU: ram_block_discard_range, for shared anonymous memory", removed},
    {"tmpfs-holes", "The holes of a file in /dev/shm, /run or /tmp read as zeros.",
     "POSIX shared memory: shm_open; QEMU: qemu_shm_alloc", in_tmpfs},
    {0, 0, 0, 0}};
