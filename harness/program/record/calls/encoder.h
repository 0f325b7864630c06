#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/page.h"
#include "record/calls/address_map.h"
#include "record/preload/call_area.h"

namespace zerotax::record {

/// Counts of the recorded calls of one process.
struct CallCounts {
  std::uint64_t mallocs = 0;
  std::uint64_t callocs = 0;
  std::uint64_t aligned = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t maps = 0;
  std::uint64_t forks = 0;
  std::uint64_t unknown = 0;  ///< frees that are omitted, because their blocks were allocated before the recording
                              ///< began

  [[nodiscard]] std::uint64_t calls() const { return mallocs + callocs + aligned + reallocs + frees; }
};

/// Encodes the calls of one process, in their order, as events of a file. Events have block numbers instead of
/// addresses.
class CallEncoder {
 public:
  void add(std::uint32_t thread, const RawCall& call);
  /// Prefetches the map entry of an upcoming call's address.
  void expect(const RawCall& call) const { now_.live.prefetch(call.address); }
  /// Ends the encoding: writes the remaining events and forgets the blocks.
  /// `ended_time` is RawCall::time at the end of the process; 0 if the end was not seen.
  void finish(std::uint32_t ended_time = 0);

  /// Page ranges of a block, as seen from outside the process. Each range is a first page and a number of pages.
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  struct Look {
    std::uint64_t address = 0;
    std::uint64_t block = 0;
    Ranges ranges;
  };
  /// Returns the live blocks whose pages are recorded, with their memory ranges: large blocks and the program's own
  /// mappings.
  [[nodiscard]] std::vector<std::pair<Look, AddressRange>> paged() const;
  /// Writes the page ranges of blocks that are still live. Call this before finish().
  void note_looks(std::vector<Look> looks);
  /// Bytes of the map `pieces`. The map of blocks, and the copies of both maps at forks, count in `shared_array_bytes`
  /// instead.
  [[nodiscard]] std::size_t mapping_bytes() const;
  /// Returns an encoder for the child that was forked at this ticket. The encoder starts with the blocks that were live
  /// at the fork. Returns nothing if the fork is unknown, or its child already has an encoder.
  std::optional<CallEncoder> take_child(std::uint64_t ticket);
  /// Returns the number of the fork with this ticket.
  [[nodiscard]] std::optional<std::uint64_t> fork_number(std::uint64_t ticket) const;

  [[nodiscard]] std::string& events() { return events_; }
  [[nodiscard]] const CallCounts& counts() const { return counts_; }

 private:
  struct Thread {
    std::uint64_t touched = 0;  ///< address of the block whose ranges are being gathered, or 0
    Ranges ranges;
    std::uint64_t newest = 0;  ///< address of the thread's newest block
    std::uint64_t newest_bytes = 0;
    std::uint64_t growing = 0;        ///< address of the block that realloc is resizing
    std::uint64_t growing_bytes = 0;  ///< bytes of the block in `growing`, if it is large
    std::optional<std::uint64_t> growing_block;
  };

  /// A piece of a mapping that the program made with one call.
  struct Piece {
    std::uint64_t end = 0;
    std::uint64_t base = 0;  ///< address at which the whole mapping began
    std::uint64_t block = 0;
  };
  struct Mappings {
    std::map<std::uint64_t, Piece> pieces;
    std::map<std::uint64_t, std::uint64_t> piece_counts;  ///< number of pieces of each block
    std::map<std::uint64_t, std::uint64_t> large;         ///< bytes of blocks of kPagedBytes and more, by address
    std::size_t counted = 0;                              ///< the part of this object's bytes that `shared_array_bytes`
                                                          ///< includes

    [[nodiscard]] std::size_t bytes() const;
    Mappings() = default;
    Mappings(const Mappings& other);
    Mappings& operator=(const Mappings&) = delete;
    ~Mappings();
  };
  /// The state at a fork. A copy shares all parts that neither copy has changed since.
  struct State {
    AddressMap live;
    std::shared_ptr<Mappings> mappings = std::make_shared<Mappings>();
    std::uint64_t blocks = 0;

    [[nodiscard]] const Mappings& mapped() const { return *mappings; }
    Mappings& edit_mapped() {
      if (mappings.use_count() != 1) mappings = std::make_shared<Mappings>(*mappings);
      return *mappings;
    }
  };
  struct Fork {
    std::uint64_t number = 0;
    std::optional<State> state;
  };

  /// A bit of the block number in AddressMap, set if the block is in Mappings::large.
  static constexpr std::uint64_t kIsLarge = std::uint64_t{1} << 63;
  [[nodiscard]] std::uint64_t age(std::uint64_t block) const { return now_.blocks - 1 - (block & ~kIsLarge); }
  std::optional<std::uint64_t> take(std::uint64_t address);
  void new_block(std::uint64_t address, std::uint64_t bytes);
  void free_block(std::uint64_t address);
  void grown(Thread& thread, const RawCall& call);
  void end_touched(Thread& thread);
  void append_ranges(std::uint64_t block, Ranges& ranges);
  bool note_mapping(const Thread& thread, const RawCall& call);
  void populated(const RawCall& call);
  void unmapped(const RawCall& call);
  void advised(const Thread& thread, const RawCall& call);
  void append_huge(std::uint64_t block, std::uint64_t base, std::uint64_t from, std::uint64_t to);
  void note_time(std::uint32_t time);

  std::uint64_t passed_ = 0;  ///< sum of the kTime events so far, in units of kTimeUnit_ns
  std::string events_;
  State now_;
  std::uint32_t thread_ = 0;
  Thread* current_ = nullptr;  ///< entry of `thread_` in `threads_`, or nullptr before it is looked up
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::uint64_t, Fork> forks_;
  CallCounts counts_;
};

}  // namespace zerotax::record
