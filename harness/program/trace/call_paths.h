#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace zerotax::trace {

/// A function by the way that led to it: who called it, who called that one.
struct CallPath {
  std::size_t parent = 0;      ///< CallPaths::kRoot: nobody that is recorded and shown
  std::size_t process = 0;     ///< which of CtfTrace::processes()
  std::uint64_t function = 0;  ///< address
  unsigned depth = 0;
  std::uint64_t calls = 0;     ///< that ended
  std::uint64_t total_ns = 0;  ///< of them, with all that they called
  std::uint64_t self_ns = 0;   ///< without the instrumented functions that they called
  std::uint64_t unfinished = 0;
};

/// The call tree of a trace, its threads merged.
class CallPaths {
 public:
  static constexpr std::size_t kRoot = SIZE_MAX;

  /// The path that this call extends `parent` to.
  std::size_t child(std::size_t process, std::size_t parent, std::uint64_t function);
  CallPath& at(std::size_t path) { return paths_[path]; }
  [[nodiscard]] const CallPath& at(std::size_t path) const { return paths_[path]; }

  /// All paths of fewer than `depth` callers (0: all), each behind its parent, the longest total time first.
  [[nodiscard]] std::vector<std::size_t> ordered(unsigned depth) const;

 private:
  using Key = std::pair<std::size_t, std::uint64_t>;
  std::vector<CallPath> paths_;
  std::map<std::pair<std::size_t, Key>, std::size_t> children_;  ///< by parent, process and function
};

}  // namespace zerotax::trace
