// Tests of userfaultfd and zeros.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "contract/suite/kernel.h"
#include "contract/suite/suite.h"

static int faults_of(unsigned char* p, size_t pages) {
  const int fd = k_userfaultfd();
  supported(fd >= 0, "userfaultfd");
  step("int faults = userfault(%s, %zu, 0, %d);", place(p), pages * page, kRegisterMissing);
  struct uffd_api api = {.api = 0xaa};
  supported(k_ioctl(fd, UFFD_API, &api) == 0, "ioctl(UFFDIO_API)");
  struct uffd_register area = {(uint64_t)(uintptr_t)p, pages * page, kRegisterMissing, 0};
  supported(k_ioctl(fd, UFFD_REGISTER, &area) == 0, "ioctl(UFFDIO_REGISTER)");
  return fd;
}

static long zero(int fd, unsigned char* p, size_t bytes, const char* variable) {
  step("int64_t %s[4] = {(intptr_t)(%s), %zu, 0, 0};", variable, place(p), bytes);
  step("r = ioctl(faults, 0xc020aa04, %s);  // UFFDIO_ZEROPAGE", variable);
  struct uffd_zeropage request = {(uint64_t)(uintptr_t)p, bytes, 0, 0};
  return k_ioctl(fd, UFFD_ZEROPAGE, &request);
}

static void zeroed(void) {
  unsigned char* p = map_pages(16);
  const int fd = faults_of(p, 16);
  supported(zero(fd, p, 16 * page, "all") == 0, "ioctl(UFFDIO_ZEROPAGE)");
  expect(p, 16 * page, 0, "in pages that UFFDIO_ZEROPAGE brought in");
  fill(p + page, page, kPattern);
  expect(p, page, 0, "in front of a page that was written");
  expect(p + 2 * page, 14 * page, 0, "behind a page that was written");
}

static void refused(void) {
  unsigned char* p = written_pages(16);
  const int fd = faults_of(p, 16);
  expect_error(zero(fd, p + 4 * page, page, "one") != 0, EEXIST, "EEXIST", "UFFDIO_ZEROPAGE of a page that is there");
  expect(p, 16 * page, kPattern, "after UFFDIO_ZEROPAGE that was refused");
}

const struct promise kUserfaultPromises[] = {
    {"uffd-zeropage", "Pages that UFFDIO_ZEROPAGE brought in read as zeros.",
     "QEMU: postcopy_place_page_zero; Firecracker: examples/uffd; CRIU: uffd_zero", zeroed},
    {"uffd-zeropage-there", "UFFDIO_ZEROPAGE of a page that is there fails with EEXIST, and changes nothing.",
     "CRIU: uffd_check_op_error, which goes on after EEXIST", refused},
    {0, 0, 0, 0}};
