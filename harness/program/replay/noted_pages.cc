#include "replay/noted_pages.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "record/calls/shared_array.h"

namespace zerotax::replay {
namespace {

using record::EventKind;

/// About the memory for ten million live blocks.
constexpr std::size_t kMostBytes = std::size_t{768} << 20;
constexpr std::size_t kBytesOfReturns = 48;  ///< for a block that returned pages
constexpr std::size_t kBytesOfBlock = 64;

/// Whether an event ends a block.
bool ends_block(const Event& event) {
  return event.kind == EventKind::kFree || event.kind == EventKind::kUnmap ||
         (event.kind == EventKind::kRealloc && event.first != 0);
}

}  // namespace

RecordedPages recorded_pages(const CallsFile& file, std::size_t process, std::uint64_t first_block) {
  RecordedPages pages;
  std::uint64_t count = first_block;
  std::uint64_t ended = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> returns;
  std::uint64_t number = 0;
  const auto block_of = [&](const Event& event, const char* what) {
    if (event.first >= count) {
      file.damaged(fmt::format("process {}, event {}", process, number),
                   fmt::format("{} of a block that does not exist", what));
    }
    return count - 1 - event.first;
  };
  file.for_each(process, [&](const Event& event) {
    ++number;
    if (makes_block(event.kind)) ++count;
    if (ends_block(event)) ++ended;
    switch (event.kind) {
      case EventKind::kTouched: {
        const std::uint64_t block = block_of(event, "pages");
        const auto known = returns.find(block);
        pages.populated.add(block, known != returns.end() ? known->second : 0, event.ranges);
        break;
      }
      case EventKind::kReturn:
        if (event.first < count) ++returns[count - 1 - event.first];
        break;
      case EventKind::kUnmap:
        if (event.first < count) returns.erase(count - 1 - event.first);
        break;
      case EventKind::kHuge:
        pages.huge.add(block_of(event, "huge pages"), 0, event.ranges);
        break;
      default:
        break;
    }
    if (number % kEventsOfCheck == 0) {
      // The check comes before any block takes memory.
      const std::uint64_t live = less(count - first_block, ended);
      check_memory(file, process, number, pages.bytes() + returns.size() * kBytesOfReturns + live * kBytesOfBlock);
    }
  });
  pages.populated.sort();
  pages.huge.sort();
  return pages;
}

void check_memory(const CallsFile& file, std::size_t process, std::uint64_t event, std::size_t bytes) {
  if (record::shared_array_bytes + bytes <= kMostBytes) return;
  throw UsageError(fmt::format("reading {} takes more than {} of memory (process {}, event {}): too many blocks at "
                               "once, or too many ranges of pages",
                               file.path(), format_size(kMostBytes), process, event),
                   "record a shorter part of the program: zerotax record --calls FILE --calls-limit SIZE");
}

}  // namespace zerotax::replay
