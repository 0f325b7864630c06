#include "replay/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/size.h"
#include "os/page.h"
#include "record/preload/call_area.h"
#include "replay/streams.h"

namespace zerotax::replay {
namespace {

using record::EventKind;
using Ranges = std::vector<PageRange>;

/// Largest numbers of live threads and of all threads. Both numbers exceed the default limits of Linux for a process.
/// The stacks of 4096 live threads take 32 GiB of addresses.
constexpr std::size_t kMostLiveThreads = 4096;
constexpr std::uint32_t kMostThreads = 1U << 20;
/// Binary logarithm of the largest alignment that allocators accept: 1 GiB.
constexpr std::uint64_t kMostAlignment = 30;
/// Maximum number of page ranges in one operation. Further ranges go into the next operation.
constexpr std::size_t kRangesAtOnce = 16;
/// Maximum duration of a recording: a hundred years.
constexpr std::uint64_t kMostTime = (std::uint64_t{100} * 366 * 86'400 * 1'000'000'000) / record::kTimeUnit_ns;

/// Prepares one process of a recording.
class Preparation {
 public:
  /// A process with `children` keeps its recorded order, because each child begins with the blocks that the process has
  /// at the fork.
  Preparation(const CallsFile& file, std::size_t process, PreparedFile& out, bool free_running, Prepared& sums,
              std::map<std::uint64_t, std::uint32_t> children)
      : children_(std::move(children)),
        file_(file),
        process_(process),
        free_running_(free_running && children_.empty()),
        sums_(sums),
        streams_(out, !free_running_) {}

  Blocks blocks;                           ///< live blocks; at the start of a child, the live blocks of its parent
  std::map<std::uint32_t, Blocks> forked;  ///< blocks at the fork, for each child
  std::vector<std::uint32_t> spawned;      ///< processes that this process starts as new programs at its end

  prepared_process run();

 private:
  [[noreturn]] void wrong(const std::string& why) const {
    file_.damaged(fmt::format("process {}, event {}", process_, event_), why);
  }
  record::CallsProcess own_image();
  void note(const Event& event);
  void allocate(const Event& event);
  void reallocate(const Event& event);
  void free_block(const Event& event);
  void fork();
  void begin(prepared_operation operation, std::uint32_t slot);
  void new_block(std::uint32_t slot, std::uint64_t bytes, bool is_mapping);
  void touch(std::uint32_t slot, std::uint64_t bytes, const Ranges& ranges);
  void touch_after(std::uint32_t returns, std::uint64_t block, std::uint32_t slot, std::uint64_t bytes);
  void ask_for_huge_pages(std::uint32_t slot, std::uint64_t bytes);
  void map(const Event& event);
  void unmap(const Event& event);
  void return_pages(const Event& event);
  void pass_time(const Event& event);
  [[nodiscard]] bool is_mapping(std::uint64_t age) const {
    const auto slot = age < blocks.count ? blocks.find(blocks.count - 1 - age) : std::nullopt;
    return slot && blocks.slot(*slot).mapped;
  }
  void forget_pages(std::uint32_t slot) {
    const std::uint64_t populated = std::exchange(blocks.edit(slot).populated, 0);
    blocks.live_bytes -= populated;
    // A child of fork may end blocks of its parent, which the child's count of incomplete blocks does not include.
    const std::uint64_t unknown = std::exchange(blocks.edit(slot).unknown, 0);
    if (unknown == 0 || open_blocks_ == 0) return;
    --open_blocks_;
    open_bytes_ = less(open_bytes_, unknown);
    seen_bytes_ = less(seen_bytes_, populated);
  }
  void note_unknown(std::uint32_t slot, std::uint64_t bytes, bool is_mapping);
  [[nodiscard]] std::uint32_t slot_of(std::uint64_t age) const;
  void check_size(std::uint64_t bytes) const;
  std::uint32_t take(std::uint64_t age);

  std::map<std::uint64_t, std::uint32_t> children_;  ///< process number of the child, by the fork's number within its
                                                     ///< process
  const CallsFile& file_;
  std::size_t process_;
  bool free_running_;
  Prepared& sums_;
  Streams streams_;
  RecordedPages pages_;
  std::uint64_t forks_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t time_ = 0;  ///< units
  std::uint64_t pauses_ = 0;
  bool pages_known_ = true;
  bool says_pages_ = true;         ///< whether the recording contains `pages_known`
  std::uint64_t open_blocks_ = 0;  ///< number of live blocks with unknown pages
  std::uint64_t open_bytes_ = 0;
  std::uint64_t seen_bytes_ = 0;  ///< bytes of the known pages of these blocks
};

void Preparation::check_size(std::uint64_t bytes) const {
  if (bytes > kAddressSpaceBytes) wrong(fmt::format("a block of {} bytes, more than there are addresses", bytes));
}

void Preparation::begin(prepared_operation operation, std::uint32_t slot) {
  streams_.begin(operation);
  streams_.number(slot);
  if (free_running_) streams_.number(blocks.edit(slot).turns++);
}

/// Appends operations that write to these pages of the block in a slot.
void Preparation::touch(std::uint32_t slot, std::uint64_t bytes, const Ranges& ranges) {
  const std::uint64_t most = bytes / page_bytes() + 2;
  for (std::size_t i = 0; i < ranges.size(); i += kRangesAtOnce) {
    begin(kOpTouch, slot);
    streams_.number(bytes);
    const std::size_t end = std::min(ranges.size(), i + kRangesAtOnce);
    streams_.number(end - i);
    std::uint64_t at = 0;
    for (std::size_t k = i; k < end; ++k) {
      if (ranges[k].first + ranges[k].second > most) wrong("pages beyond the end of a block");
      streams_.number(ranges[k].first - at);
      streams_.number(ranges[k].second);
      at = ranges[k].first + ranges[k].second;
      blocks.edit(slot).populated += ranges[k].second * page_bytes();
      blocks.live_bytes += ranges[k].second * page_bytes();
    }
  }
}

/// Appends operations that write to pages of a block. These pages were populated after exactly `returns` returns of
/// pages of the block.
void Preparation::touch_after(std::uint32_t returns, std::uint64_t block, std::uint32_t slot, std::uint64_t bytes) {
  pages_.populated.for_each(block, [&](std::uint32_t after, const Ranges& ranges) {
    if (after == returns) touch(slot, bytes, ranges);
  });
}

/// Requests huge pages before the first write to the block's pages, as the recorded program did.
void Preparation::ask_for_huge_pages(std::uint32_t slot, std::uint64_t bytes) {
  pages_.huge.for_each(blocks.count, [&](std::uint32_t /*returns*/, const Ranges& ranges) {
    const auto& [first, pages] = ranges.front();
    if (first + pages > bytes / page_bytes() + 2) wrong("huge pages beyond the end of a block");
    begin(kOpHuge, slot);
    streams_.number(first);
    streams_.number(pages);
  });
}

/// Counts the pages of a live block that may be missing in the recording, because the end of the process was not seen.
void Preparation::note_unknown(std::uint32_t slot, std::uint64_t bytes, bool is_mapping) {
  const bool has_note = pages_.populated.has(blocks.count);
  if (bytes < record::kPagedBytes && !is_mapping) return;
  if (pages_known_ && (has_note || is_mapping)) return;
  Slot& edited = blocks.edit(slot);
  edited.unknown = less(page_ceiling(bytes), edited.populated);
  if (edited.unknown == 0) return;
  ++open_blocks_;
  open_bytes_ += edited.unknown;
  seen_bytes_ += edited.populated;
}

/// Begins a block in a slot, and writes to those of its pages that the recording lists as populated. A recording by an
/// earlier version, or a converted trace, does not state whether its lists are complete. In such a recording, all pages
/// of a block that never ends are written to.
void Preparation::new_block(std::uint32_t slot, std::uint64_t bytes, bool is_mapping) {
  forget_pages(slot);
  Slot& edited = blocks.edit(slot);
  edited.bytes = bytes;
  edited.returns = 0;
  edited.mapped = is_mapping;
  ask_for_huge_pages(slot, bytes);
  if (bytes < record::kPagedBytes && !is_mapping) {
    blocks.live_bytes += blocks.edit(slot).populated = bytes;
  } else if (pages_.populated.has(blocks.count)) {
    touch_after(0, blocks.count, slot, bytes);
  } else if (!says_pages_ && !is_mapping) {
    touch(slot, bytes, {{0, bytes / page_bytes() + 2}});
  }
  if (says_pages_) note_unknown(slot, bytes, is_mapping);
  sums_.peak_bytes = std::max(sums_.peak_bytes, blocks.live_bytes);
  blocks.begin(slot);
  ++sums_.calls;
}

void Preparation::map(const Event& event) {
  check_size(event.first);
  const std::uint32_t slot = blocks.take_slot();
  begin(kOpMap, slot);
  streams_.number(event.first);
  new_block(slot, event.first, true);
  --sums_.calls;
}

void Preparation::unmap(const Event& event) {
  if (!is_mapping(event.first)) wrong("no such mapping");
  const std::uint32_t slot = take(event.first);
  begin(kOpUnmap, slot);
  streams_.number(blocks.slot(slot).bytes);
  forget_pages(slot);
  blocks.give_back(slot);
}

void Preparation::return_pages(const Event& event) {
  const std::uint32_t slot = slot_of(event.first);
  const auto [first, pages] = event.ranges.front();
  const std::uint64_t block = blocks.count - 1 - event.first;
  if (!is_mapping(event.first) || first + pages > blocks.slot(slot).bytes / page_bytes() + 1) wrong("no such pages");
  begin(kOpReturn, slot);
  streams_.number(first);
  streams_.number(pages);
  Slot& edited = blocks.edit(slot);
  const std::uint64_t returned = std::min(edited.populated, pages * page_bytes());
  edited.populated -= returned;
  blocks.live_bytes -= returned;
  const std::uint32_t times = ++edited.returns;
  touch_after(times, block, slot, blocks.slot(slot).bytes);
  sums_.peak_bytes = std::max(sums_.peak_bytes, blocks.live_bytes);
}

void Preparation::allocate(const Event& event) {
  check_size(event.first);
  if (event.kind == EventKind::kAligned && event.second > kMostAlignment)
    wrong("an alignment that no allocator accepts");
  const std::uint32_t slot = blocks.take_slot();
  begin(event.kind == EventKind::kMalloc ? kOpMalloc : event.kind == EventKind::kCalloc ? kOpCalloc : kOpAligned, slot);
  streams_.number(event.first);
  if (event.kind == EventKind::kAligned) streams_.number(event.second);
  new_block(slot, event.first, false);
}

std::uint32_t Preparation::slot_of(std::uint64_t age) const {
  const auto found = age < blocks.count ? blocks.find(blocks.count - 1 - age) : std::nullopt;
  if (!found) wrong("a block that does not exist or was freed before");
  return *found;
}

/// Ends a block and returns its slot.
std::uint32_t Preparation::take(std::uint64_t age) {
  const std::uint32_t slot = slot_of(age);
  blocks.take(blocks.count - 1 - age);
  return slot;
}

void Preparation::reallocate(const Event& event) {
  check_size(event.second);
  if (event.first != 0 && is_mapping(event.first - 1)) wrong("realloc of memory that the program mapped");
  const std::uint32_t slot = event.first == 0 ? blocks.take_slot() : take(event.first - 1);
  begin(kOpRealloc, slot);
  streams_.number(event.second);
  new_block(slot, event.second, false);
}

void Preparation::free_block(const Event& event) {
  if (is_mapping(event.first)) wrong("free of memory that the program mapped");
  const std::uint32_t slot = take(event.first);
  begin(kOpFree, slot);
  forget_pages(slot);
  blocks.give_back(slot);
  ++sums_.calls;
}

void Preparation::fork() {
  const auto found = children_.find(forks_++);
  if (found == children_.end()) return;
  streams_.begin(kOpFork);
  streams_.number(found->second);
  // The slots need no order of their own here, because the operations of a process with children keep the recorded
  // order.
  forked[found->second] = blocks;
}

/// Appends an operation that advances the recorded time. Any thread may contain the operation; only its position among
/// the allocator's calls matters.
void Preparation::pass_time(const Event& event) {
  if (event.first > kMostTime - time_) wrong("more than a hundred years");
  time_ += event.first;
  if (event.first >= kPauseUnits) ++pauses_;
  streams_.begin(kOpTime);
  streams_.number(event.first);
}

void Preparation::note(const Event& event) {
  if (++event_ % kEventsOfCheck == 0) check_memory(file_, process_, event_, pages_.bytes());
  switch (event.kind) {
    case EventKind::kMalloc:
    case EventKind::kCalloc:
    case EventKind::kAligned:
      return allocate(event);
    case EventKind::kRealloc:
      return reallocate(event);
    case EventKind::kFree:
      return free_block(event);
    case EventKind::kThread:
      if (event.thread >= kMostThreads) wrong(fmt::format("thread {}", event.thread));
      if (!streams_.turn_to(event.thread)) wrong(fmt::format("calls of thread {}, which had ended", event.thread));
      if (streams_.most_live() > kMostLiveThreads) wrong(fmt::format("more than {} threads at once", kMostLiveThreads));
      return;
    case EventKind::kEnd:
      return streams_.end_thread();
    case EventKind::kFork:
      return fork();
    case EventKind::kMap:
      return map(event);
    case EventKind::kUnmap:
      return unmap(event);
    case EventKind::kReturn:
      return return_pages(event);
    case EventKind::kTime:
      return pass_time(event);
    default:
      return;
  }
}

/// Returns the memory that the program has besides its blocks. A child of fork shares this memory with its parent.
record::CallsProcess Preparation::own_image() {
  record::CallsProcess row = file_.about().processes[process_];
  if (row.image_zeroed_bytes > kAddressSpaceBytes || row.image_copied_bytes > kAddressSpaceBytes) {
    wrong("more data than there are addresses");
  }
  if (row.parent) row.image_zeroed_bytes = row.image_copied_bytes = 0;
  blocks.live_bytes += row.image_zeroed_bytes + row.image_copied_bytes;
  sums_.peak_bytes = std::max(sums_.peak_bytes, blocks.live_bytes);
  return row;
}

prepared_process Preparation::run() {
  const record::CallsProcess image = own_image();
  pages_ = recorded_pages(file_, process_, blocks.count);
  const std::optional<bool>& known = file_.about().processes[process_].pages_known;
  says_pages_ = known.has_value();
  pages_known_ = known.value_or(true);
  bool has_thread = streams_.turn_to(0);
  file_.for_each(process_, [&](const Event& event) {
    if (!has_thread && event.kind != EventKind::kThread) wrong("a call without a thread");
    note(event);
    has_thread = event.kind != EventKind::kEnd || streams_.has_current();
  });
  streams_.turn_to(0);
  for (const std::uint32_t child : spawned) {
    streams_.begin(kOpSpawn);
    streams_.number(child);
  }
  const std::uint64_t threads = streams_.finish();
  sums_.threads += streams_.threads();
  ++sums_.processes;
  sums_.unknown_blocks += open_blocks_;
  // Upper bound of the missing pages: the bytes that the kernel zeroed for the process, minus the known pages.
  const std::uint64_t most = image.zeroed_at_most_bytes.value_or(2 * kAddressSpaceBytes);
  sums_.unknown_bytes += pages_known_ ? open_bytes_ : less(std::min(most, 2 * kAddressSpaceBytes), seen_bytes_);
  return {blocks.slots(),       threads, streams_.threads(),     image.image_zeroed_bytes, image.image_copied_bytes,
          time_ != 0 ? 1U : 0U, pauses_, free_running_ ? 1U : 0U};
}

}  // namespace

Prepared prepare(const CallsFile& file, const std::string& path, bool free_running) {
  const auto& rows = file.about().processes;
  if (rows.empty()) file.damaged("its last part", "the recording has no process");
  PreparedFile out(path, static_cast<std::uint32_t>(rows.size()));
  Prepared sums;
  std::map<std::uint32_t, Blocks> inherited;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    std::map<std::uint64_t, std::uint32_t> children;
    std::vector<std::uint32_t> spawned;
    for (std::uint32_t other = i + 1; other < rows.size(); ++other) {
      if (rows[other].parent == i) children[*rows[other].fork] = other;
      if (i == 0 && !rows[other].parent) spawned.push_back(other);
    }
    Preparation process(file, i, out, free_running, sums, std::move(children));
    process.spawned = std::move(spawned);
    if (const auto found = inherited.extract(i)) process.blocks = std::move(found.mapped());
    out.set_process(i, process.run());
    inherited.merge(process.forked);
  }
  return sums;
}

}  // namespace zerotax::replay
