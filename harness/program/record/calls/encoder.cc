#include "record/calls/encoder.h"

#include <algorithm>

#include "os/page.h"
#include "record/calls/format.h"

namespace zerotax::record {
namespace {

/// Maximum number of page ranges that are gathered before they are written. A block of 8 GiB has at most this many
/// ranges.
constexpr std::size_t kMostRanges = std::size_t{1} << 20;
/// Maximum number of pieces of a process's own mappings. Linux allows a process fewer mappings by default.
constexpr std::size_t kMostPieces = std::size_t{1} << 17;
/// Maximum number of forks whose children have not begun. Also the maximum number of forks whose numbers are kept.
constexpr std::size_t kMostForks = std::size_t{1} << 16;
constexpr std::size_t kBytesOfPiece = 192;  ///< bytes of a piece in `pieces` and `piece_counts` together
constexpr std::size_t kBytesOfLarge = 64;

}  // namespace

/// Appends the process's time up to this call. Threads share this time, so time in which several threads wait counts
/// once.
void CallEncoder::note_time(std::uint32_t time) {
  if (time <= passed_) return;
  append_event(events_, EventKind::kTime, time - passed_);
  passed_ = time;
}

std::optional<std::uint64_t> CallEncoder::take(std::uint64_t address) {
  const std::optional<std::uint64_t> block = now_.live.take(address);
  if (block && (*block & kIsLarge) != 0) now_.edit_mapped().large.erase(address);
  return block;
}

void CallEncoder::free_block(std::uint64_t address) {
  const std::optional<std::uint64_t> block = take(address);
  if (!block) {
    ++counts_.unknown;
    return;
  }
  append_event(events_, EventKind::kFree, age(*block));
  ++counts_.frees;
}

void CallEncoder::new_block(std::uint64_t address, std::uint64_t bytes) {
  // An old block is still known at this address if its free was in a thread whose calls are missing.
  take(address);
  const std::uint64_t block = now_.blocks++;
  if (address == 0) return;
  const bool is_large = bytes >= kPagedBytes;
  now_.live.insert(address, is_large ? block | kIsLarge : block);
  if (is_large) now_.edit_mapped().large[address] = bytes;
}

/// Records the end of a realloc. A failed realloc leaves the old block. A realloc to 0 bytes frees the old block.
void CallEncoder::grown(Thread& thread, const RawCall& call) {
  const std::optional<std::uint64_t> old = std::exchange(thread.growing_block, std::nullopt);
  const std::uint64_t old_address = std::exchange(thread.growing, 0);
  if (call.address == 0) {
    if (!old) return;
    if (call.bytes != 0) {
      take(old_address);
      now_.live.insert(old_address, *old);
      if ((*old & kIsLarge) != 0) now_.edit_mapped().large[old_address] = thread.growing_bytes;
    } else {
      append_event(events_, EventKind::kFree, age(*old));
      ++counts_.frees;
    }
    return;
  }
  append_event(events_, EventKind::kRealloc, old ? age(*old) + 1 : 0);
  append_varint(events_, call.bytes);
  ++counts_.reallocs;
  new_block(call.address, call.bytes);
}

void CallEncoder::end_touched(Thread& thread) {
  const std::optional<std::uint64_t> block = now_.live.find(std::exchange(thread.touched, 0));
  auto ranges = std::exchange(thread.ranges, {});
  if (block) append_ranges(*block, ranges);
}

void CallEncoder::append_ranges(std::uint64_t block, Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges joined;
  for (const auto& [first, pages] : ranges) {
    if (!joined.empty() && first <= joined.back().first + joined.back().second) {
      joined.back().second = std::max(joined.back().second, first + pages - joined.back().first);
    } else {
      joined.emplace_back(first, pages);
    }
  }
  append_event(events_, EventKind::kTouched, age(block));
  append_varint(events_, joined.size());
  std::uint64_t at = 0;
  for (const auto& [first, pages] : joined) {
    append_varint(events_, first - at);
    append_varint(events_, pages);
    at = first + pages;
  }
}

/// Records populated ranges of the program's own mappings. Each range is written at once.
void CallEncoder::populated(const RawCall& call) {
  const std::uint64_t end = call.address + call.bytes;
  const Mappings& mappings = now_.mapped();
  auto piece = mappings.pieces.upper_bound(call.address);
  if (piece != mappings.pieces.begin()) --piece;
  for (; piece != mappings.pieces.end() && piece->first < end; ++piece) {
    const std::uint64_t from = std::max(piece->first, call.address);
    const std::uint64_t to = std::min(piece->second.end, end);
    if (from >= to) continue;
    Ranges range{{(from - piece->second.base) / page_bytes(), (to - from) / page_bytes()}};
    append_ranges(piece->second.block, range);
  }
}

/// Records that a range was unmapped or returned. The rest of the block keeps its number.
void CallEncoder::unmapped(const RawCall& call) {
  const std::uint64_t end = call.address + call.bytes;
  const bool kept = call.kind == RawKind::kReturned;
  Mappings& mappings = now_.edit_mapped();
  auto& pieces = mappings.pieces;
  auto at = pieces.upper_bound(call.address);
  if (at != pieces.begin()) --at;
  while (at != pieces.end() && at->first < end) {
    const auto [begin, piece] = *at;
    const std::uint64_t from = std::max(begin, call.address);
    const std::uint64_t to = std::min(piece.end, end);
    if (from >= to) {
      ++at;
      continue;
    }
    std::uint64_t& count = mappings.piece_counts[piece.block];
    if (!kept) {
      at = pieces.erase(at);
      --count;
      if (begin < from) pieces[begin] = {from, piece.base, piece.block}, ++count;
      if (to < piece.end) pieces[to] = {piece.end, piece.base, piece.block}, ++count;
      at = pieces.lower_bound(to);
    } else {
      ++at;
    }
    if (count == 0) {
      append_event(events_, EventKind::kUnmap, age(piece.block));
      mappings.piece_counts.erase(piece.block);
    } else {
      append_event(events_, EventKind::kReturn, age(piece.block));
      append_varint(events_, (from - piece.base) / page_bytes());
      append_varint(events_, (to - from) / page_bytes());
    }
  }
}

void CallEncoder::append_huge(std::uint64_t block, std::uint64_t base, std::uint64_t from, std::uint64_t to) {
  if (from >= to) return;
  append_event(events_, EventKind::kHuge, age(block));
  append_varint(events_, (from - page_floor(base)) / page_bytes());
  append_varint(events_, (to - from) / page_bytes());
}

/// Records a request for huge pages. Programs make this request soon after they get the memory, so only the thread's
/// newest block and the program's mappings are searched for the range.
void CallEncoder::advised(const Thread& thread, const RawCall& call) {
  const std::uint64_t end = call.address + call.bytes;
  const std::optional<std::uint64_t> newest = now_.live.find(thread.newest);
  if (newest && call.address < thread.newest + thread.newest_bytes && end > thread.newest) {
    return append_huge(*newest, thread.newest, std::max(call.address, page_floor(thread.newest)),
                       std::min(end, page_ceiling(thread.newest + thread.newest_bytes)));
  }
  const auto& pieces = now_.mapped().pieces;
  auto piece = pieces.upper_bound(call.address);
  if (piece == pieces.begin()) return;
  --piece;
  append_huge(piece->second.block, piece->second.base, call.address, std::min(end, piece->second.end));
}

/// Returns false if the call does not concern the program's own mappings.
bool CallEncoder::note_mapping(const Thread& thread, const RawCall& call) {
  switch (call.kind) {
    case RawKind::kMapped: {
      Mappings& mappings = now_.edit_mapped();
      if (mappings.pieces.size() >= kMostPieces) return true;
      append_event(events_, EventKind::kMap, call.bytes);
      ++counts_.maps;
      mappings.piece_counts[now_.blocks] = 1;
      mappings.pieces[call.address] = {call.address + call.bytes, call.address, now_.blocks++};
      return true;
    }
    case RawKind::kPopulated:
      populated(call);
      return true;
    case RawKind::kHuge:
      advised(thread, call);
      return true;
    case RawKind::kReturned:
    case RawKind::kUnmapped:
      unmapped(call);
      return true;
    default:
      return false;
  }
}

void CallEncoder::add(std::uint32_t number, const RawCall& call) {
  if (number != thread_) append_event(events_, EventKind::kThread, number);
  if (number != std::exchange(thread_, number) || current_ == nullptr) current_ = &threads_[number];
  Thread& thread = *current_;
  note_time(call.time);
  if (call.kind == RawKind::kTouched) {
    if (thread.touched != 0 && thread.touched != call.address) end_touched(thread);
    thread.touched = call.address;
    if (call.bytes >> 32 != 0) thread.ranges.emplace_back(call.bytes & 0xffff'ffff, call.bytes >> 32);
    if (thread.ranges.size() >= kMostRanges) end_touched(thread);
    return;
  }
  if (thread.touched != 0) end_touched(thread);
  if (call.kind >= RawKind::kMapped && note_mapping(thread, call)) return;
  const auto allocated = [&](EventKind kind, std::uint64_t& count) {
    append_event(events_, kind, call.bytes);
    if (kind == EventKind::kAligned) append_varint(events_, call.alignment);
    ++count;
    new_block(call.address, call.bytes);
    thread.newest = call.address;
    thread.newest_bytes = call.bytes;
  };
  switch (call.kind) {
    case RawKind::kMalloc:
      return allocated(EventKind::kMalloc, counts_.mallocs);
    case RawKind::kCalloc:
      return allocated(EventKind::kCalloc, counts_.callocs);
    case RawKind::kAligned:
      return allocated(EventKind::kAligned, counts_.aligned);
    case RawKind::kFree:
      return free_block(call.address);
    case RawKind::kGrowing:
      thread.growing = call.address;
      thread.growing_bytes = call.bytes;
      if (const auto block = take(call.address)) thread.growing_block = block;
      return;
    case RawKind::kGrown:
      return grown(thread, call);
    case RawKind::kFork:
      forks_[call.ticket] = {counts_.forks++, now_};
      if (forks_.size() > kMostForks) forks_.erase(forks_.begin());
      append_event(events_, EventKind::kFork, 0);
      return;
    default:
      append_event(events_, EventKind::kEnd, 0);
      threads_.erase(number);
      current_ = nullptr;
  }
}

std::vector<std::pair<CallEncoder::Look, AddressRange>> CallEncoder::paged() const {
  std::vector<std::pair<Look, AddressRange>> found;
  const Mappings& mappings = now_.mapped();
  for (const auto& [address, bytes] : mappings.large) {
    if (const auto block = now_.live.find(address)) {
      found.push_back({{address, *block, {}}, {page_floor(address), page_ceiling(address + bytes)}});
    }
  }
  for (const auto& [begin, piece] : mappings.pieces) {
    found.push_back({{piece.base, piece.block, {}}, {begin, piece.end}});
  }
  return found;
}

void CallEncoder::note_looks(std::vector<Look> looks) {
  const Mappings& mappings = now_.mapped();
  for (Look& look : looks) {
    const bool is_large = (look.block & kIsLarge) != 0;
    if (is_large ? now_.live.find(look.address) != look.block : mappings.piece_counts.count(look.block) == 0) continue;
    // Attributes the ranges to thread 0, because a replay needs a first thread that lives to the end.
    if (std::exchange(thread_, 0) != 0) append_event(events_, EventKind::kThread, 0);
    append_ranges(look.block, look.ranges);
  }
  current_ = nullptr;
}

void CallEncoder::finish(std::uint32_t ended_time) {
  for (auto& [number, thread] : threads_) {
    if (thread.touched == 0) continue;
    if (number != std::exchange(thread_, number)) append_event(events_, EventKind::kThread, number);
    end_touched(thread);
  }
  if (ended_time > passed_) {
    if (std::exchange(thread_, 0) != 0) append_event(events_, EventKind::kThread, 0);
    note_time(ended_time);
  }
  now_ = {};
  threads_.clear();
  current_ = nullptr;
}

CallEncoder::Mappings::Mappings(const Mappings& other)
    : pieces(other.pieces), piece_counts(other.piece_counts), large(other.large), counted(bytes()) {
  shared_array_bytes += counted;
}

CallEncoder::Mappings::~Mappings() { shared_array_bytes -= counted; }

std::size_t CallEncoder::Mappings::bytes() const {
  return kBytesOfPiece * pieces.size() + kBytesOfLarge * large.size();
}

std::size_t CallEncoder::mapping_bytes() const { return now_.mapped().bytes(); }

std::optional<CallEncoder> CallEncoder::take_child(std::uint64_t ticket) {
  const auto found = forks_.find(ticket);
  if (found == forks_.end() || !found->second.state) return std::nullopt;
  CallEncoder child;
  child.now_ = std::move(*found->second.state);
  found->second.state.reset();
  return child;
}

std::optional<std::uint64_t> CallEncoder::fork_number(std::uint64_t ticket) const {
  const auto found = forks_.find(ticket);
  return found == forks_.end() ? std::nullopt : std::optional(found->second.number);
}

}  // namespace zerotax::record
