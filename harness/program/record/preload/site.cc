#include "record/preload/site.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "os/machine_code.h"
#include "os/processor.h"
#include "record/preload/live_heap.h"
#include "record/preload/modules.h"
#include "record/preload/own_memory.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/python_frames.h"
#include "record/preload/real.h"
#include "record/preload/unwinder.h"

namespace zerotax::record {
namespace {

/// Whether the code at a return address keeps no frame pointer: CPython's trampolines have "add $8, %rsp" and "ret"
/// after their call.
bool keeps_no_frame_pointer(std::uint64_t address) {
  static constexpr unsigned char kTrampoline[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
  unsigned char code[sizeof kTrampoline];
  return !read_own(address, &code[0], sizeof code) || std::memcmp(&code[0], &kTrampoline[0], sizeof code) == 0;
}

/// Whether the instruction before an address is a near call, or a call by a register or memory (Intel SDM, volume 2,
/// CALL).
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

/// Continues a stack through code that an interpreter made in memory. Unwinding ends at such code, because it has no
/// call frame information. V8's code keeps frame pointers, which lead back to code of a file.
void follow_frame_pointers(const Unwinder& end, Stack& stack) {
  if (end.is_whole() || stack.depth == 0 || has_frame_rules(end.address() - 1) || keeps_no_frame_pointer(end.address()))
    return;
  StackMemory memory;
  std::uint64_t frame = end.frame_pointer();
  memory.move_to(end.stack_pointer());
  while (stack.depth < kFrames) {
    std::uint64_t caller = 0;  // frame pointer of the caller
    std::uint64_t back = 0;    // return address
    if (!memory.read(frame, caller) || !memory.read(frame + sizeof caller, back) || !is_behind_call(back)) return;
    stack.addresses[stack.depth++] = back - 1;
    if (has_frame_rules(back - 1)) return;
    memory.move_to(frame + sizeof caller + sizeof back);
    frame = caller;
  }
}

void unwind(const EntryRegisters& entry, Stack& stack) {
  Unwinder unwinder(entry);
  do {
    // Not only the innermost frames are the recorder's, because code that the recorder calls, such as operator new, may
    // call the program's allocator.
    if (is_ours(unwinder.address())) continue;
    stack.places[stack.depth] = unwinder.stack_pointer() - sizeof(std::uint64_t);
    stack.addresses[stack.depth++] = unwinder.call_address();
  } while (stack.depth < kFrames && unwinder.step());
  const std::uint32_t depth = stack.depth;
  if (depth < kFrames) follow_frame_pointers(unwinder, stack);
  stack.is_plain = stack.depth == depth;
}

/// Inserts Python's functions before the innermost frame of the interpreter's loop, which runs them.
void add_python_frames(Stack& stack) {
  std::uint64_t functions[kPythonFrames];
  const auto loop = std::find_if(&stack.addresses[0], &stack.addresses[stack.depth], is_python_loop);
  const auto at = static_cast<std::uint32_t>(loop - &stack.addresses[0]);
  if (at == stack.depth) return;
  stack.is_plain = false;
  const std::uint32_t count = std::min(python_frames(&functions[0]), std::uint32_t{kFrames} - at);
  const std::uint32_t behind = std::min(stack.depth - at, std::uint32_t{kFrames} - at - count);
  std::memmove(&stack.addresses[at + count], &stack.addresses[at], behind * sizeof stack.addresses[0]);
  std::memcpy(&stack.addresses[at], &functions[0], count * sizeof functions[0]);
  stack.depth = at + count + behind;
}

}  // namespace

void current_stack(Stack& stack) {
  stack.depth = 0;
  stack.is_plain = false;
  // Without find_object, no call frame information can be found.
  if (real.find_object != nullptr) unwind(*entry_registers(), stack);
  add_python_frames(stack);
}

/// FNV-1a over the addresses and the kind.
std::uint64_t key_of(const Stack& stack, std::uint64_t kind) {
  std::uint64_t hash = 0xcbf29ce484222325 ^ kind;
  for (std::uint32_t i = 0; i < stack.depth; ++i) hash = (hash ^ stack.addresses[i]) * 0x100000001b3;
  return hash | 1;
}

std::uint64_t frame_of(std::uint64_t address) {
  return address >> kFrameModuleShift == kModules ? address : place(address);
}

bool is_on_signal_stack() {
  stack_t stack{};
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

Site* current_site(SiteKind kind) {
  if (process == nullptr) return nullptr;
  Site* site = nullptr;
  on_own_stack([&] {
    Stack stack;
    current_stack(stack);
    site = find_row(process->sites, stack, key_of(stack, kind), [&](Site& row) { row.kind = kind; });
    if (site != nullptr) return;
    note_gap(kSitesLost);
    ++process->sites_lost;
  });
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

std::uint32_t site_weight(ThreadState& thread) {
  constexpr std::uint32_t kAllOf = 4096;
  constexpr std::uint32_t kGroup = 32;
  if (live_heap_counted || thread.cheap_calls < kAllOf) {
    ++thread.cheap_calls;
    return 1;
  }
  return random_of(thread) % kGroup == 0 ? kGroup : 0;
}

Site* note_sampled_calls(SiteKind kind, std::uint32_t calls) {
  const TimedOwnWork own;
  Site* const site = current_site(kind);
  if (site != nullptr) site->sampled_calls += calls;
  return site;
}

void note_sample(SiteKind kind, Samples& samples) {
  const TimedOwnWork own;
  if (Site* site = current_site(kind)) {
    const double share = static_cast<double>(samples.redundant_bytes) / static_cast<double>(samples.bytes);
    site->sampled_zeroed_bytes += samples.pending_bytes;
    site->sampled_redundant_bytes += static_cast<std::uint64_t>(share * static_cast<double>(samples.pending_bytes));
  }
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
