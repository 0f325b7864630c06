#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "meter/meter.h"
#include "point/point.h"
#include "point/point_document.h"
#include "run/planning.h"

namespace zerotax {

/// A pass with the contents that a probe would have left.
inline PassResult make_pass(std::size_t ops, const std::function<void(SampleBlock&)>& fill,
                            PassResult::Status status = PassResult::Status::kOk, const std::string& reason = "") {
  auto bytes = std::make_unique<unsigned char[]>(SampleBlock::bytes(ops));
  auto& samples = *reinterpret_cast<SampleBlock*>(bytes.get());
  samples.request.ops = static_cast<std::uint32_t>(ops);
  samples.ops_done = static_cast<std::uint32_t>(ops);
  for (std::size_t i = 0; i < ops; ++i) clear_operation((&samples.ops[0])[i]);
  fill(samples);
  return {std::move(bytes), status, reason};
}

inline OpSample& op(SampleBlock& samples, std::size_t i) { return (&samples.ops[0])[i]; }

/// The median of calloc_ns in the steady state of timing_pass(8), whose values are 1 ms, 105, 106 and 107 ns.
inline constexpr double kSteadyOfEight = 106.5;

inline PassResult timing_pass(std::size_t ops) {
  return make_pass(ops, [&](SampleBlock& samples) {
    for (std::size_t i = 0; i < ops; ++i) {
      op(samples, i).calloc_ns = i < 5 ? 1'000'000 : 100 + static_cast<int>(i);
      op(samples, i).free_ns = 10;
      op(samples, i).calloc_faults = i == 0 ? 26 : 1;
      op(samples, i).free_faults = 0;
    }
  });
}

inline PassResult audit_pass(std::int64_t zeroed, std::int64_t redundant, std::uint32_t methods,
                             PassResult::Status status = PassResult::Status::kOk, const std::string& reason = "") {
  const auto fill = [&](SampleBlock& samples) {
    for (std::size_t i = 0; i < 8; ++i) {
      OpSample& entry = op(samples, i);
      entry.zeroed_bytes = i == 0 ? 0 : zeroed;
      entry.redundant_zeroed_bytes = i == 0 ? 0 : redundant;
      entry.populated_bytes = 4096;
      entry.methods = i == 0 ? 0 : methods;
      entry.calloc_syscalls.kinds[0] = {SYS_mmap, 1};
      entry.calloc_syscalls.used = 1;
      entry.free_syscalls.kinds[0] = {SYS_munmap, 1};
      entry.free_syscalls.kinds[1] = {500, 2};
      entry.free_syscalls.used = 2;
    }
  };
  return make_pass(8, fill, status, reason);
}

class PointTest : public testing::Test {
 protected:
  PointTest() {
    plan.allocators.push_back({"mine", "/p", {}, {}, ""});
    add_points(plan, {{"calloc_loop"}, {1 << 20}, {0.0}, {"main"}}, {});
  }
  [[nodiscard]] Json json(const Passes& passes) const { return to_json(measured_point(plan, plan.points[0], passes)); }
  Plan plan;
};

}  // namespace zerotax
