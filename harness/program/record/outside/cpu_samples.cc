#include "record/outside/cpu_samples.h"

#include <algorithm>
#include <iterator>

#include "base/statistics.h"
#include "observe/fill.h"
#include "os/processor.h"
#include "record/kernel_part.h"

namespace zerotax::record {
namespace {

enum class Match { kWhole, kBegin, kPart };

struct FillingFunction {
  const char* name;
  Match match;
  Filling filling;
};

/// Functions without a byte argument that store only zeros. Sources: glibc and musl (string/), Go
/// (runtime/memclr_amd64.s, duff_amd64.s), HotSpot (utilities/copy.hpp), mimalloc (include/mimalloc/internal.h),
/// jemalloc (src/ehooks.c), Rust (compiler_builtins::mem). V8 clears memory by the C library's memset and calloc.
constexpr FillingFunction kFilling[] = {
    {"explicit_bzero", Match::kPart, Filling::kZeros},
    {"bzero", Match::kPart, Filling::kZeros},
    {"runtime.memclr", Match::kBegin, Filling::kZeros},
    {"runtime.duffzero", Match::kBegin, Filling::kZeros},
    {"Copy::zero_to_", Match::kPart, Filling::kZeros},
    {"Copy::pd_zero_to_", Match::kPart, Filling::kZeros},
    {"Copy::fill_to_memory_atomic", Match::kPart, Filling::kByValue},
    {"zero_blocks", Match::kWhole, Filling::kZeros},
    {"_mi_memzero", Match::kBegin, Filling::kZeros},
    {"mi_mem_zero", Match::kBegin, Filling::kZeros},
    {"ehooks_zero", Match::kPart, Filling::kZeros},
    {"ehooks_default_zero_impl", Match::kPart, Filling::kZeros},
    {"wmemset", Match::kPart, Filling::kNone},
    {"memset", Match::kPart, Filling::kByValue},
};

constexpr const char* kForCaller[] = {"memset", "bzero",   "memcpy", "memmove",  "mempcpy", "stpcpy",
                                      "strcpy", "strncpy", "memclr", "duffzero", "duffcopy"};

/// Functions of the C library and of Go that make system calls.
constexpr const char* kAsking[] = {"munmap",
                                   "__munmap",
                                   "madvise",
                                   "__madvise",
                                   "brk",
                                   "__brk",
                                   "sbrk",
                                   "__sbrk",
                                   "mremap",
                                   "__mremap",
                                   "runtime.munmap",
                                   "runtime.sysMunmap",
                                   "runtime.sysMunmap.abi0",
                                   "runtime.madvise",
                                   "runtime.madvise.abi0"};

constexpr const char* kFreeing[] = {"free",        "cfree",   "__free",         "__cfree",      "__realloc",
                                    "__libc_free", "realloc", "__libc_realloc", "reallocarray", "sdallocx",
                                    "dallocx",     "rallocx", "mi_free",        "je_free",      "tc_free"};
/// Libraries of allocators that return memory on their own, outside calls to free.
constexpr const char* kAllocators[] = {"libjemalloc", "libmimalloc", "libtcmalloc", "libscudo", "libtbbmalloc"};

constexpr const char* kFaulting[] = {"exc_page_fault", "handle_mm_fault", "do_user_addr_fault", "do_mem_abort"};
constexpr const char* kClearing[] = {"clear_page",      "clear_huge_page",     "clear_subpage",
                                     "folio_zero_user", "clear_user_highpage", "kernel_init_pages"};
constexpr const char* kReturning[] = {"sys_munmap", "sys_madvise", "sys_brk", "sys_mremap", "sys_process_madvise"};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

template <typename Names>
bool names_one(const std::string& function, const Names& names) {
  return std::any_of(std::begin(names), std::end(names), [&](const char* name) { return contains(function, name); });
}

}  // namespace

std::optional<SampledTime> sampled_time(std::uint64_t hits, std::uint64_t trials, std::uint64_t ns) {
  if (trials == 0) return std::nullopt;
  const auto interval = binomial_interval(hits, trials);
  const auto part = [&](double share) { return static_cast<std::uint64_t>(share * as_double(ns)); };
  return SampledTime{part(as_double(hits) / as_double(trials)), {part(interval.low), part(interval.high)}};
}

bool CpuSamples::add(const PerfEvent& event, const Stack& stack) {
  ++all;
  if (!event.kernel.empty()) {
    const KernelWork work = kernel_work(stack);
    faults += work == KernelWork::kFault || work == KernelWork::kClearing ? 1 : 0;
    clearing += work == KernelWork::kClearing ? 1 : 0;
    returning += work == KernelWork::kReturning ? 1 : 0;
    return false;
  }
  ++user;
  if (stack.empty()) return false;
  Filling filling = filling_of(stack.back().function);
  if (filling == Filling::kByValue) {
    // The memset implementations of glibc, musl and Rust keep the byte in the register of the second argument (fill.h).
    const Fill fill = event.has_user ? fill_of_register(event.registers[kSecondArgument]) : Fill::kUnknown;
    unknown_fill += fill == Fill::kUnknown ? 1 : 0;
    filling = fill == Fill::kZeros ? Filling::kZeros : Filling::kNone;
  }
  zeros += filling == Filling::kZeros ? 1 : 0;
  return filling == Filling::kZeros;
}

Filling filling_of(const std::string& function) {
  for (const auto& [name, match, filling] : kFilling) {
    const bool is = match == Match::kWhole   ? function == name
                    : match == Match::kBegin ? function.starts_with(name)
                                             : contains(function, name);
    if (is) return filling;
  }
  return Filling::kNone;
}

bool works_for_caller(const std::string& function) {
  return filling_of(function) != Filling::kNone || names_one(function, kForCaller) ||
         std::find(std::begin(kAsking), std::end(kAsking), function) != std::end(kAsking);
}

ReturnedIn returned_in(const Stack& stack) {
  bool purges = false;
  for (const Frame& frame : stack) {
    const std::string& function = frame.function;
    if (std::find(std::begin(kFreeing), std::end(kFreeing), function) != std::end(kFreeing) ||
        function.starts_with("operator delete") || function.starts_with("__rust_dealloc")) {
      return ReturnedIn::kFree;
    }
    purges = purges || function.starts_with("runtime.") || names_one(frame.module, kAllocators);
  }
  return purges ? ReturnedIn::kPurge : ReturnedIn::kProgram;
}

KernelWork kernel_work(const Stack& stack) {
  KernelWork work = KernelWork::kOther;
  for (std::size_t i = stack.size(); i-- > 0 && stack[i].module == "kernel";) {
    const std::string& function = stack[i].function;
    if (names_one(function, kFaulting)) return work == KernelWork::kClearing ? work : KernelWork::kFault;
    if (names_one(function, kReturning)) return KernelWork::kReturning;
    if (names_one(function, kClearing)) work = KernelWork::kClearing;
  }
  // Clearing outside a fault is other work, such as a system call that allocates a page for the kernel itself.
  return KernelWork::kOther;
}

}  // namespace zerotax::record
