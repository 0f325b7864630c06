#pragma once

#include <cstddef>
#include <cstdint>

#include "record/preload/arena.h"
#include "record/preload/process.h"
#include "record/preload/state.h"

namespace zerotax::record {

/// Whether the thread runs a signal handler on a stack of its own. Such a stack may be 2 KiB, which is too small for
/// the unwinder and for examining pages. Takes a system call.
bool is_on_signal_stack();

struct Stack {
  std::uint64_t addresses[kFrames];
  /// Where the return addresses lie, if each call pushed its return address and all functions are of files
  /// (`is_plain`).
  std::uint64_t places[kFrames];
  std::uint32_t depth;
  bool is_plain;
};
/// Finds the current call stack. Call this on a separate stack.
void current_stack(Stack& stack);
/// Returns a hash of a stack and a kind; never 0.
std::uint64_t key_of(const Stack& stack, std::uint64_t kind);
inline std::uint64_t key_of(const Stack& stack, SiteKind kind) {
  return key_of(stack, static_cast<std::uint64_t>(kind));
}
/// Returns an address of a stack in the form of Site::frames.
std::uint64_t frame_of(std::uint64_t address);

/// Returns the row of a table in the arena with the key of a stack. If no such row exists, calls begin(row) for a new
/// row with the frames of the stack. Returns nullptr if there is no room.
template <typename Row, std::size_t kRows, typename Begin>
Row* find_row(Row (&rows)[kRows], const Stack& stack, std::uint64_t key, Begin begin) {
  constexpr std::size_t kProbes = 64;
  // The low bits of the product depend on only a few bits of the addresses.
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    Row& row = rows[((key >> 32) + probe) % kRows];
    // Populates the pages first: on a full file system, even reading a page that has no memory causes a signal.
    if (!have_pages(&row, sizeof row)) return nullptr;
    std::uint64_t found = row.key;
    if (found == key) return &row;
    if (found != 0) continue;
    if (!row.key.compare_exchange_strong(found, key)) {
      if (found == key) return &row;
      continue;
    }
    row.depth = stack.depth;
    for (std::uint32_t i = 0; i < stack.depth; ++i) row.frames[i] = frame_of(stack.addresses[i]);
    begin(row);
    row.ready = 1;
    return &row;
  }
  return nullptr;
}

/// Returns the site of the current call stack, and creates the site if it is new. Returns nullptr if there is no room.
/// Allocates nothing and takes no lock.
Site* current_site(SiteKind kind);

/// Adds the metrics of a large call to the site of its call stack. Returns the site, or nullptr if there is no room for
/// the site.
Site* note_site(SiteKind kind, std::uint64_t requested_bytes, const CallFigures& figures);

/// Returns the number of calls for which this call stands at its site. Use this for calls that cost less than finding
/// their site. Each of a thread's first 4,096 such calls stands for itself. Then one call in 32, chosen at random,
/// stands for 32, and the other calls stand for none (0). If the live heap is counted, each call stands for itself.
std::uint32_t site_weight(ThreadState& thread);

/// Adds the estimated number `calls` to the site of the current call. Returns the site, or nullptr if there is no room
/// for the site.
Site* note_sampled_calls(SiteKind kind, std::uint32_t calls);

/// Attributes to the call stack of the examined store all small stores since the last sample.
void note_sample(SiteKind kind, Samples& samples);

/// Attributes kernel-zeroed bytes of small blocks. The call stack that allocated one of these blocks gets the bytes.
void note_estimate(SiteKind kind, Estimate Site::*estimate, std::uint64_t bytes);

/// Attributes to the call stack the growth of the allocator's memory in the call that has just ended.
void note_growth(ThreadState& thread, SiteKind kind);

}  // namespace zerotax::record
