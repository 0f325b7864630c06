#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "observe/frame.h"
#include "observe/symbols.h"
#include "observe/unwinder.h"
#include "os/perf_sampler.h"
#include "os/process_file.h"

namespace zerotax::record {

/// The location of a function that will be named later.
struct Spot {
  Frame frame;
  std::string name;  ///< name of the file that contains the function
  std::string path;
  std::uint64_t address = 0;  ///< address in the file
  pid_t pid = 0;              ///< PID of the process that has the file mapped
};

/// Finds the place of a sample: its call stack without the innermost functions that work for their caller.
class PlaceFinder {
 public:
  struct Found {
    Stack key;    ///< outermost first, without functions that work for their caller
    Stack stack;  ///< the whole stack, including functions that work for their caller
  };
  static Found find(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder);
  /// Returns the locations of a place's functions, innermost first. Call this while the process lives.
  std::vector<Spot> spots(const Found& found, pid_t pid, Unwinder& unwinder);

 private:
  Spot spot(const Frame& frame, bool caller, pid_t pid, Unwinder& unwinder);

  struct File {
    std::string path;  ///< a path at which the file can be read
    std::uint64_t bias = 0;
  };

  ProcessFiles opened_;
  /// Files by process, start of the mapping, inode and name.
  std::map<std::tuple<pid_t, std::uint64_t, std::uint64_t, std::string>, File> files_;
};

std::vector<NamedFrame> name_spots(const std::vector<Spot>& spots, Symbols& symbols);

/// Data of type `Seen` for each place.
template <typename Seen>
class Places {
 public:
  struct Place {
    std::vector<Spot> spots;
    Seen seen;
  };

  /// Returns the data of a sample's place. The reference stays valid.
  Seen& at(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder) {
    PlaceFinder::Found found = PlaceFinder::find(event, sampled, unwinder);
    if (places_.size() >= kMost && !places_.contains(found.key)) found = {Stack{Frame{"(other places)", ""}}, {}};
    const auto [entry, is_new] = places_.try_emplace(found.key);
    if (is_new) entry->second.spots = finder_.spots(found, static_cast<pid_t>(event.pid), unwinder);
    return entry->second.seen;
  }
  [[nodiscard]] const std::map<Stack, Place>& all() const { return places_; }

 private:
  static constexpr std::size_t kMost = 50'000;

  PlaceFinder finder_;
  std::map<Stack, Place> places_;
};

}  // namespace zerotax::record
