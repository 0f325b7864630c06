#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "observe/frame.h"
#include "os/perf_sampler.h"

namespace zerotax {

/// One process as its samples see it: what is mapped where, and from that the names of the functions on a stack.
/// Unwinds by the files' call frame information, which every library has, not by frame pointers, which few have;
/// elfutils' libdwfl does both the unwinding and the names.
class Unwinder {
 public:
  explicit Unwinder(std::uint32_t pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  struct Mapping {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t file_offset;
    std::string name;
  };

  void map(const Mapping& mapping);
  [[nodiscard]] const std::vector<Mapping>& mappings() const { return mappings_; }

  /// The user part of a sample's stack, outermost first. It is cut where the copied stack ends, or a function cannot be
  /// unwound; the innermost function is always known.
  Stack frames(const PerfEvent& sample);
  /// The function at an address.
  const Frame& name(std::uint64_t address);

 private:
  struct Session;

  std::uint32_t pid_;
  std::vector<Mapping> mappings_;
  std::unique_ptr<Session> session_;
  std::unordered_map<std::uint64_t, Frame> names_;
};

}  // namespace zerotax
