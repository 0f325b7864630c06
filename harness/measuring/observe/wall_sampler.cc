#include "observe/wall_sampler.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "os/process_info.h"
#include "os/processor.h"
#include "os/syscall_counter.h"
#include "os/thread_look.h"

namespace zerotax {
namespace {

ThreadTimes between(const ThreadTimes& first, const ThreadTimes& last) {
  return {last.user_ns - first.user_ns, last.system_ns - first.system_ns, last.faults - first.faults};
}

constexpr std::uint64_t kForgetEvery = 1024;

Stack unwound(pid_t process, pid_t thread, const ThreadLook& look, const std::vector<unsigned char>& memory,
              Unwinder& unwinder) {
  PerfEvent sample;
  sample.pid = static_cast<std::uint32_t>(process);
  sample.tid = static_cast<std::uint32_t>(thread);
  sample.registers[kStackPointer] = look.stack_pointer;
  sample.registers[kProgramCounter] = look.program_counter;
  sample.stack = memory;
  sample.has_user = true;
  sample.few_registers = true;
  Stack stack = unwinder.frames(sample, [process](std::uint64_t address, void* to, std::size_t bytes) {
    const std::vector<unsigned char> code = read_process_memory(process, address, bytes);
    if (code.size() == bytes) std::memcpy(to, code.data(), bytes);
    return code.size() == bytes;
  });
  const std::vector<KernelCall> kernel = kernel_stack(process, thread);
  for (std::size_t i = kernel.size(); i-- > 0;) stack.push_back({kernel[i].function, "kernel", 0, kernel[i].offset});
  if (kernel.empty() && look.syscall >= 0) {
    const char* name = syscall_name(static_cast<std::size_t>(look.syscall));
    stack.push_back(
        {name != nullptr ? kSyscallPrefix + std::string(name) : fmt::format("system call {}", look.syscall), "kernel"});
  }
  return stack;
}

}  // namespace

void ThreadClock::begin(pid_t process) {
  for (const pid_t thread : process_threads(process)) {
    const auto times = thread_times(process, thread);
    if (times) threads_[{static_cast<std::uint32_t>(process), static_cast<std::uint32_t>(thread)}] = {*times, *times};
  }
}

void ThreadClock::look(pid_t process) {
  for (const pid_t thread : process_threads(process)) {
    const auto times = thread_times(process, thread);
    if (times) threads_[{static_cast<std::uint32_t>(process), static_cast<std::uint32_t>(thread)}].last = *times;
  }
}

ThreadTimes ThreadClock::used(const ThreadId& thread) const {
  const auto found = threads_.find(thread);
  return found == threads_.end() ? ThreadTimes{} : between(found->second.first, found->second.last);
}

std::map<ThreadClock::ThreadId, ThreadTimes> ThreadClock::used() const {
  std::map<ThreadId, ThreadTimes> all;
  for (const auto& [thread, watched] : threads_) all[thread] = between(watched.first, watched.last);
  return all;
}

void map_process(pid_t process, Unwinder& unwinder) {
  for (const ProcessMapping& mapping : process_mappings(process)) {
    if (mapping.executable)
      unwinder.map({mapping.begin, mapping.end, mapping.file_offset, mapping.name, mapping.inode, "", mapping.device});
  }
}

void WallSampler::look(pid_t process, Unwinder& unwinder, const Visitor& visitor) {
  ++looks_;
  for (const pid_t thread : process_threads(process)) {
    const ThreadLook look = look_at_thread(process, thread);
    refused_ = refused_ || look.state == ThreadLook::State::kRefused;
    if (look.state == ThreadLook::State::kRunning) visitor.running(thread);
    if (look.state != ThreadLook::State::kBlocked) continue;
    std::vector<unsigned char> memory = read_process_memory(process, look.stack_pointer, stack_bytes_);
    Known& known = known_[thread];
    known.seen = looks_;
    // The kernel's mapping events arrive later than this round of sampling.
    if (unwinder.mapping_of(look.program_counter) == nullptr) map_process(process, unwinder);
    if (known.stack.empty() || known.line != look.line || known.memory != memory ||
        known.changes != unwinder.changes()) {
      Stack stack = unwound(process, thread, look, memory, unwinder);
      // A thread that continued during the inspection was not blocked.
      if (look_at_thread(process, thread).line != look.line) {
        visitor.running(thread);
        known = {};
        continue;
      }
      known = {look.line, std::move(memory), std::move(stack), unwinder.changes(), looks_};
    }
    visitor.blocked(thread, known.stack);
  }
  if (looks_ % kForgetEvery == 0) forget_ended();
}

void WallSampler::forget_ended() {
  std::erase_if(known_, [&](const auto& entry) { return entry.second.seen + kForgetEvery < looks_; });
}

}  // namespace zerotax
