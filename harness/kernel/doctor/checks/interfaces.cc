#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstring>

#include "doctor/check.h"
#include "os/page.h"
#include "os/pagemap.h"
#include "os/syscall_trap.h"
#include "os/write_tracker.h"

namespace zerotax::doctor {
namespace {

Finding look_at_pagemap(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const Pagemap pagemap;
  switch (pagemap.method()) {
    case Pagemap::Method::kScan:
      return {"PAGEMAP_SCAN", Weight::kOk, "", ""};
    case Pagemap::Method::kRead:
      return {"read entry by entry", Weight::kLimits, "audits are slower", "run Linux 6.7 or later"};
    case Pagemap::Method::kNone:
      break;
  }
  return {NotAvailable{pagemap.reason()}, Weight::kLimits,
          "run, study, check: redundant_zeroed_bytes, populated_bytes and inline stores are n/a",
          "mount -t proc proc /proc"};
}
const Check pagemap_check(Topic::kKernel, "pagemap", look_at_pagemap);

Finding look_at_tracking(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const WriteTracker tracker;
  if (tracker.available()) return {tracker.name(), Weight::kOk, "", ""};
  return {NotAvailable{tracker.reason()}, Weight::kLimits,
          "run, study: inline stores to memory that was populated before go unseen; zeroed_bytes of such allocators "
          "are n/a",
          "run Linux 6.7 or later, and let seccomp permit userfaultfd; or a kernel that keeps soft-dirty bits"};
}
const Check tracking(Topic::kKernel, "write tracking", look_at_tracking);

Finding look_at_dispatch(const Machine& machine) {
  if (!machine.is_this()) return not_asked();
  const char* refusal = syscall_trap::refusal();
  if (refusal == nullptr) return {syscall_trap::name(), Weight::kOk, "", ""};
  return {NotAvailable{refusal}, Weight::kLimits,
          "run, study, thresholds, check: system calls of calloc and free are n/a", syscall_trap::remedy()};
}
const Check dispatch(Topic::kKernel, "system call counts", look_at_dispatch);

Finding look_at_soft_dirty(const Machine& machine) {
  // "sd" is a flag of every new mapping where the kernel keeps soft-dirty bits.
  void* mapping = ::mmap(nullptr, page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Reading maps = machine.text("/proc/self/smaps");
  if (mapping != MAP_FAILED) ::munmap(mapping, page_bytes());
  if (!maps) return unknown(maps.why);
  const bool kept = maps.text->find(" sd") != std::string::npos;
  return {kept ? "kept" : "not kept (CONFIG_MEM_SOFT_DIRTY)", Weight::kOk, "", ""};
}
const Check soft_dirty(Topic::kKernel, "soft-dirty bits", look_at_soft_dirty);

}  // namespace
}  // namespace zerotax::doctor
