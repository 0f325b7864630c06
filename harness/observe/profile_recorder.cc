#include "observe/profile_recorder.h"

#include <algorithm>
#include <chrono>

#include "observe/time_order.h"

namespace zerotax {
namespace {

constexpr std::uint32_t kStackBytes = 16 << 10;
constexpr std::chrono::milliseconds kPause{10};

const KernelSymbols& kernel_symbols() {
  static const KernelSymbols symbols;
  return symbols;
}

}  // namespace

void ProfileData::add(const ProfileData& other) {
  for (const auto& [stack, count] : other.stacks) stacks[stack] += count;
  samples += other.samples;
  lost += other.lost;
  sees_kernel = other.sees_kernel;
  knows_kernel_names = other.knows_kernel_names;
}

ProfileRecorder::ProfileRecorder(unsigned hz, Each each)
    : sampler_(hz, kStackBytes), kernel_(kernel_symbols()), each_(std::move(each)), thread_([this] { work(); }) {}

ProfileRecorder::~ProfileRecorder() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

ProfileData ProfileRecorder::finish() {
  done_ = true;
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  data_.lost = sampler_.lost();
  data_.sees_kernel = sampler_.sees_kernel();
  data_.knows_kernel_names = kernel_.known();
  return std::move(data_);
}

void ProfileRecorder::work() {
  try {
    take_samples();
  } catch (...) {  // such as lack of memory: finish() throws it in the thread that can report it
    failure_ = std::current_exception();
  }
}

void ProfileRecorder::take_samples() {
  std::uint64_t newest = 0;
  while (!done_) {
    sampler_.read(pending_);
    process(newest);
    for (const PerfEvent& event : pending_) newest = std::max(newest, event.time_ns);
    std::this_thread::sleep_for(kPause);
  }
  sampler_.read(pending_);
  process(UINT64_MAX);
}

void ProfileRecorder::process(std::uint64_t before_ns) {
  apply_in_order(pending_, before_ns, [&](PerfEvent& event) { apply(event); });
}

Unwinder& ProfileRecorder::unwinder(std::uint32_t pid) {
  auto& process = processes_[pid];
  if (!process) process = std::make_unique<Unwinder>(pid);
  return *process;
}

void ProfileRecorder::apply(PerfEvent& event) {
  switch (event.kind) {
    case PerfEvent::Kind::kExec:
      processes_.erase(event.pid);
      names_[event.pid] = event.name;
      return;
    case PerfEvent::Kind::kFork: {
      names_[event.pid] = names_[event.parent];
      const std::vector<Unwinder::Mapping> inherited = unwinder(event.parent).mappings();
      processes_.erase(event.pid);
      for (const Unwinder::Mapping& mapping : inherited) unwinder(event.pid).map(mapping);
      return;
    }
    case PerfEvent::Kind::kMap:
      unwinder(event.pid).map({event.begin, event.end, event.file_offset, event.name});
      return;
    case PerfEvent::Kind::kSample:
      break;
  }
  Stack stack{{names_[event.pid], ""}};
  for (Frame& frame : unwinder(event.pid).frames(event)) stack.push_back(std::move(frame));
  for (std::size_t i = event.kernel.size(); i-- > 0;) stack.push_back({kernel_.name(event.kernel[i]), "kernel"});
  if (each_) each_(event, stack);
  ++data_.stacks[stack];
  ++data_.samples;
}

}  // namespace zerotax
