#include "observe/profile_data.h"

#include <algorithm>

namespace zerotax {

bool ByPlace::operator()(const Stack& one, const Stack& other) const {
  return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end(),
                                      [](const Frame& a, const Frame& b) {
                                        if (a.address != b.address) return a.address < b.address;
                                        if (a.offset != b.offset) return a.offset < b.offset;
                                        return a < b;
                                      });
}

void SampleKinds::add(const SampleKinds& other, std::uint64_t times) {
  zeros += other.zeros * times;
  other_bytes += other.other_bytes * times;
  waiting += other.waiting * times;
  in_call += other.in_call * times;
}

void ProfileData::add(const ProfileData& other) {
  for (const auto& [stack, count] : other.stacks) stacks[stack] += count;
  for (const auto& [stack, count] : other.kinds) kinds[stack].add(count);
  for (const auto& [stack, count] : other.faults) faults[stack] += count;
  for (const auto& [thread, profile] : other.threads) {
    ThreadProfile& sum = threads[thread];
    sum.name = profile.name;
    sum.samples += profile.samples;
    for (const auto& [stack, count] : profile.stacks) sum.stacks[stack] += count;
  }
  samples += other.samples;
  accounted += other.accounted;
  fault_samples += other.fault_samples;
  sees_faults = other.sees_faults;
  denied = other.denied;
  lost += other.lost;
  rights_changed += other.rights_changed;
  looks += other.looks;
  by_thread = other.by_thread;
  sees_kernel = other.sees_kernel;
  samples_cpus = other.samples_cpus;
  knows_kernel_names = other.knows_kernel_names;
  refused = refused || other.refused;
  scripts.add(other.scripts);
}

}  // namespace zerotax
