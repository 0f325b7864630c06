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

/// What a recording has of one process.
struct CallCounts {
  std::uint64_t mallocs = 0;
  std::uint64_t callocs = 0;
  std::uint64_t aligned = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t maps = 0;
  std::uint64_t forks = 0;
  std::uint64_t unknown = 0;  ///< frees of blocks from before the recording began: left out

  [[nodiscard]] std::uint64_t calls() const { return mallocs + callocs + aligned + reallocs + frees; }
};

/// Turns the calls of a process, in their order, into the events of a file: numbers of blocks in place of addresses.
class CallEncoder {
 public:
  void add(std::uint32_t thread, const RawCall& call);
  /// This call will follow soon.
  void expect(const RawCall& call) const { now_.live.prefetch(call.address); }
  /// Ends the calls: writes the remaining events, and forgets the blocks.
  void finish();

  /// Pages of live blocks, as seen from outside the process.
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< first page, pages
  struct Look {
    std::uint64_t address = 0;
    std::uint64_t block = 0;
    Ranges ranges;
  };
  /// The live blocks whose pages a recording has, with their ranges of memory: large blocks, and the program's own
  /// mappings.
  [[nodiscard]] std::vector<std::pair<Look, AddressRange>> paged() const;
  /// Writes the looks at blocks that still live. Call this before finish().
  void note_looks(std::vector<Look> looks);
  /// Bytes that the program's mappings take here. shared_array_bytes counts its blocks, and the copies of both.
  [[nodiscard]] std::size_t mapping_bytes() const;
  /// A process forked at this ticket. Continues from the blocks of that moment, if it is known and was not asked for
  /// before.
  std::optional<CallEncoder> take_child(std::uint64_t ticket);
  /// The number of the fork at a ticket.
  [[nodiscard]] std::optional<std::uint64_t> fork_number(std::uint64_t ticket) const;

  [[nodiscard]] std::string& events() { return events_; }
  [[nodiscard]] const CallCounts& counts() const { return counts_; }

 private:
  struct Thread {
    std::uint64_t touched = 0;  ///< the address of a block whose ranges are being gathered; 0: none
    Ranges ranges;
    std::uint64_t newest = 0;  ///< the address of its newest block, and its bytes
    std::uint64_t newest_bytes = 0;
    std::uint64_t growing = 0;        ///< the address of a block inside realloc
    std::uint64_t growing_bytes = 0;  ///< of that block, if it is large
    std::optional<std::uint64_t> growing_block;
  };

  /// A piece of what the program mapped by one call.
  struct Piece {
    std::uint64_t end = 0;
    std::uint64_t base = 0;  ///< where the whole began
    std::uint64_t block = 0;
  };
  struct Mappings {
    std::map<std::uint64_t, Piece> pieces;
    std::map<std::uint64_t, std::uint64_t> piece_counts;  ///< number of pieces by block
    std::map<std::uint64_t, std::uint64_t> large;         ///< bytes of blocks of kPagedBytes and more, by address
    std::size_t counted = 0;                              ///< bytes that are counted in shared_array_bytes

    [[nodiscard]] std::size_t bytes() const;
    Mappings() = default;
    Mappings(const Mappings& other);
    Mappings& operator=(const Mappings&) = delete;
    ~Mappings();
  };
  /// The state at a fork. Copies share everything that neither has changed since.
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

  /// A bit of the block in AddressMap, set if the block is in Mappings::large.
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
  void note_time(const RawCall& call);

  std::uint64_t passed_ = 0;  ///< units of time that are in the events
  std::string events_;
  State now_;
  std::uint32_t thread_ = 0;
  Thread* current_ = nullptr;  ///< that of thread_, if it was looked up
  std::map<std::uint32_t, Thread> threads_;
  std::map<std::uint64_t, Fork> forks_;
  CallCounts counts_;
};

}  // namespace zerotax::record
