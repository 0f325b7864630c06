#include "record/preload/site.h"

#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <csignal>
#include <cstring>

#include "os/machine_code.h"
#include "os/processor.h"
#include "record/preload/modules.h"
#include "record/preload/process.h"
#include "record/preload/real.h"

// The borders of this library, which the linker knows.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}

// libgcc's own, which no header declares (unwind-dw2-fde.h).
struct dwarf_eh_bases {
  void* tbase;
  void* dbase;
  void* func;
};
extern "C" const void* _Unwind_Find_FDE(void*, dwarf_eh_bases*);

namespace zerotax::record {
namespace {

constexpr std::size_t kProbes = 64;

struct Stack {
  std::uint64_t addresses[kFrames];
  std::uint32_t depth;
  bool whole;                   ///< its end was reached
  std::uint64_t last;           ///< the outermost frame: where it returns to
  std::uint64_t stack_pointer;  ///< there
  std::uint64_t frame_pointer;
};

/// A frame that is larger than this is no frame.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 20;

bool is_ours(std::uintptr_t address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  return address >= begin && address < reinterpret_cast<std::uintptr_t>(&_end);
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& stack = *static_cast<Stack*>(argument);
  int before = 0;
  const std::uintptr_t address = ::_Unwind_GetIPInfo(context, &before);
  stack.whole = address == 0;
  if (stack.whole) return _URC_END_OF_STACK;
  stack.last = address;
  stack.stack_pointer = ::_Unwind_GetCFA(context);
  stack.frame_pointer = ::_Unwind_GetGR(context, kFramePointer);
  // Not only the innermost ones: what we call may call the program's allocator, as operator new does.
  if (is_ours(address)) return _URC_NO_REASON;
  // A return address lies behind the call, maybe in the next line or function.
  stack.addresses[stack.depth++] = before != 0 ? address : address - 1;
  return stack.depth < kFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Reads our own memory; false where nothing is mapped.
bool read_own(std::uint64_t address, void* to, std::size_t bytes) {
  iovec local{to, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

/// Whether an address lies in code that has call frame information.
bool has_frame_information(std::uint64_t address) {
  dwarf_eh_bases bases{};
  return ::_Unwind_Find_FDE(reinterpret_cast<void*>(address), &bases) != nullptr;
}

/// CPython's trampolines keep no frame pointer: behind their call are "add $8, %rsp" and "ret".
bool keeps_no_frame_pointer(std::uint64_t address) {
  static constexpr unsigned char kTrampoline[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
  unsigned char code[sizeof kTrampoline];
  return !read_own(address, &code[0], sizeof code) || std::memcmp(&code[0], &kTrampoline[0], sizeof code) == 0;
}

/// Whether what is before an address is a call, near or by a register or memory (Intel SDM, volume 2, CALL).
bool is_behind_call(std::uint64_t address) {
  unsigned char code[kCallBytes];
  if (!read_own(address - sizeof code, &code[0], sizeof code)) return false;
#if defined(__aarch64__)
  return call_ending_at(address, &code[0]).kind != CallTarget::Kind::kNone;
#else
  if (code[2] == 0xe8) return true;
  for (const std::size_t length : {2U, 3U, 4U, 6U, 7U}) {
    const unsigned char* call = &code[sizeof code - length];
    if (call[0] == 0xff && (call[1] & 0x38) == 0x10) return true;
  }
  return false;
#endif
}

/// Code that an interpreter made in memory has no call frame information, and there unwinding ends. V8's keeps frame
/// pointers, which lead on until there is code of a file again.
void follow_frame_pointers(Stack& stack) {
  if (stack.whole || stack.depth == 0 || has_frame_information(stack.last - 1) || keeps_no_frame_pointer(stack.last))
    return;
  std::uint64_t frame = stack.frame_pointer;
  std::uint64_t below = stack.stack_pointer;
  while (stack.depth < kFrames && frame >= below && frame - below <= kFarthest && frame % sizeof frame == 0) {
    std::uint64_t words[2];  // the caller's frame pointer, and where the function returns to
    if (!read_own(frame, &words[0], sizeof words) || !is_behind_call(words[1])) return;
    stack.addresses[stack.depth++] = words[1] - 1;
    if (has_frame_information(words[1] - 1)) return;
    below = frame + sizeof words;
    frame = words[0];
  }
}

/// FNV-1a over the addresses and the kind; never 0.
std::uint64_t key_of(const Stack& stack, SiteKind kind) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(kind);
  for (std::uint32_t i = 0; i < stack.depth; ++i) hash = (hash ^ stack.addresses[i]) * 0x100000001b3;
  return hash | 1;
}

/// The site of a stack, made if it is new; nullptr if there is no room.
Site* find(const Stack& stack, SiteKind kind) {
  const std::uint64_t key = key_of(stack, kind);
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    // The low bits of the product depend on few bits of the addresses.
    Site& site = process->sites[((key >> 32) + probe) % kSites];
    // Even to read from a full file system is a signal.
    if (!have_pages(&site, sizeof site)) return nullptr;
    std::uint64_t found = site.key;
    if (found == key) return &site;
    if (found != 0) continue;
    if (!site.key.compare_exchange_strong(found, key)) {
      if (found == key) return &site;
      continue;
    }
    site.kind = kind;
    site.depth = stack.depth;
    for (std::uint32_t i = 0; i < stack.depth; ++i) site.frames[i] = place(stack.addresses[i]);
    site.ready = 1;
    return &site;
  }
  return nullptr;
}

}  // namespace

bool is_on_signal_stack() {
  stack_t stack{};
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

Site* current_site(SiteKind kind) {
  if (process == nullptr) return nullptr;
  Stack stack;
  stack.depth = 0;
  stack.whole = true;
  // Without it the unwinder finds nothing, and aborts for want of its own frame.
  if (real.find_object != nullptr && (kind != SiteKind::kCleared || !is_on_signal_stack())) {
    ::_Unwind_Backtrace(add_frame, &stack);
    follow_frame_pointers(stack);
  }
  Site* site = find(stack, kind);
  if (site == nullptr) {
    note_gap(kSitesLost);
    ++process->sites_lost;
  }
  return site;
}

Site* note_site(SiteKind kind, std::uint64_t requested_bytes, const CallFigures& figures) {
  const TimedOwnWork own;
  Site* const site = current_site(kind);
  if (site != nullptr) {
    ++site->calls;
    site->requested_bytes += requested_bytes;
    site->zeroed_bytes += figures.zeroed_bytes;
    site->redundant_bytes += figures.redundant_bytes;
    site->zero_ns += figures.ns;
    site->zero_faults += figures.faults;
    for (std::size_t i = 0; i < kMechanisms; ++i) {
      if (figures.returned[i] != 0) site->returned[i] += figures.returned[i];
    }
  }
  return site;
}

void stand_for(Site& site, Samples& samples) {
  if (samples.pending_bytes != 0) {
    const double share = static_cast<double>(samples.redundant_bytes) / static_cast<double>(samples.bytes);
    site.sampled_zeroed_bytes += samples.pending_bytes;
    site.sampled_redundant_bytes += static_cast<std::uint64_t>(share * static_cast<double>(samples.pending_bytes));
  }
  samples.pending_bytes = 0;
  samples.bytes = 0;
}

void note_sample(SiteKind kind, Samples& samples) {
  const TimedOwnWork own;
  if (Site* site = current_site(kind)) stand_for(*site, samples);
  samples.pending_bytes = 0;
  samples.bytes = 0;
}

void note_estimate(SiteKind kind, Estimate Site::*estimate, std::uint64_t bytes) {
  const TimedOwnWork own;
  if (Site* site = current_site(kind)) (site->*estimate).note(bytes);
}

void note_growth(ThreadState& thread, SiteKind kind) {
  note_estimate(kind, &Site::growth, thread.grown_bytes);
  thread.grown_bytes = 0;
}

}  // namespace zerotax::record
