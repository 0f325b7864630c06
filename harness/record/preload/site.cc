#include "record/preload/site.h"

#include <unwind.h>

#include <cstring>

#include "record/preload/modules.h"
#include "record/preload/process.h"
#include "record/preload/real.h"

// The borders of this library, which the linker knows.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}

namespace zerotax::record {
namespace {

constexpr std::size_t kProbes = 64;

struct Stack {
  std::uint64_t addresses[kFrames];
  std::uint32_t depth;
};

bool is_ours(std::uintptr_t address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  return address >= begin && address < reinterpret_cast<std::uintptr_t>(&_end);
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& stack = *static_cast<Stack*>(argument);
  int before = 0;
  const std::uintptr_t address = ::_Unwind_GetIPInfo(context, &before);
  if (address == 0) return _URC_END_OF_STACK;
  if (stack.depth == 0 && is_ours(address)) return _URC_NO_REASON;
  // A return address lies behind the call, maybe in the next line or function.
  stack.addresses[stack.depth++] = before != 0 ? address : address - 1;
  return stack.depth < kFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
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

Site* current_site(SiteKind kind) {
  if (process == nullptr) return nullptr;
  Stack stack;
  stack.depth = 0;
  // Without it the unwinder finds nothing, and aborts for want of its own frame.
  if (real.find_object != nullptr) ::_Unwind_Backtrace(add_frame, &stack);
  Site* site = find(stack, kind);
  if (site == nullptr) {
    note_gap(kSitesLost);
    ++process->sites_lost;
  }
  return site;
}

}  // namespace

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

void note_sample(SiteKind kind) {
  const TimedOwnWork own;
  if (Site* site = current_site(kind)) {
    const double share = static_cast<double>(state.sampled_redundant_bytes) / static_cast<double>(state.sampled_bytes);
    site->sampled_zeroed_bytes += state.pending_bytes;
    site->sampled_redundant_bytes += static_cast<std::uint64_t>(share * static_cast<double>(state.pending_bytes));
  }
  state.pending_bytes = 0;
  state.sampled_bytes = 0;
}

}  // namespace zerotax::record
