#include "os/perf_streams.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/error.h"

namespace zerotax {
namespace {

/// Minimum buffer size. With a smaller buffer, many events of any program would be lost.
constexpr std::size_t kLeastBufferBytes = std::size_t{16} << 10;

}  // namespace

/// Maps a buffer, halving its size until the kernel permits it. The memory that an ordinary user may lock for perf is
/// limited (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK). If the user traces other programs too, less than a useful size
/// may be left.
PerfBuffer PerfStreams::buffer(int fd) {
  for (;;) {
    try {
      return {fd, buffer_bytes_};
    } catch (const std::system_error& refusal) {
      if (!exact_ && buffer_bytes_ > kLeastBufferBytes) {
        buffer_bytes_ /= 2;
        continue;
      }
      throw MachineError(fmt::format("the kernel refuses a buffer of {} KiB per CPU for events ({})",
                                     buffer_bytes_ >> 10, refusal.what()),
                         exact_ ? "give a smaller --buffer, or watch as root"
                                : "end other traces, or raise kernel.perf_event_mlock_kb or ulimit -l");
    }
  }
}

void PerfStreams::open(perf_event_attr attributes, pid_t thread, bool at_exec, int cpu, unsigned source) {
  attributes.sample_id_all = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.disabled = at_exec ? 1 : 0;
  attributes.enable_on_exec = at_exec ? 1 : 0;
  attributes.read_format = PERF_FORMAT_LOST;
  UniqueFd fd = open_perf_event(attributes, thread, cpu);
  if (!fd && errno == EINVAL) {  // kernels before Linux 6.0 refuse PERF_FORMAT_LOST
    attributes.read_format = 0;
    fd = open_perf_event(attributes, thread, cpu);
  }
  if (!fd) throw refused();
  const auto known = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& b) { return b.cpu == cpu; });
  if (known != buffers_.end()) {
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, known->fd) != 0) throw refused();
  } else {
    buffers_.push_back({cpu, fd.get(), buffer(fd.get())});
  }
  std::uint64_t id = 0;
  if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0) throw refused();
  source_of_.emplace(id, source);
  sources_.push_back(source);
  fds_.push_back(std::move(fd));
}

std::optional<unsigned> PerfStreams::source_of(std::uint64_t id) const {
  const auto found = source_of_.find(id);
  return found == source_of_.end() ? std::nullopt : std::optional(found->second);
}

void PerfStreams::filter(const std::string& expression) {
  if (::ioctl(fds_.back().get(), PERF_EVENT_IOC_SET_FILTER, expression.c_str()) != 0) throw refused();
}

void PerfStreams::wait_until(std::chrono::steady_clock::time_point then) {
  for (std::size_t known = waking_.size(); known < fds_.size(); ++known) {
    waking_.push_back({fds_[known].get(), POLLIN, 0});
  }
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(then - std::chrono::steady_clock::now());
  const timespec wait{0, std::clamp<std::int64_t>(left.count(), 0, 999'999'999)};
  if (::ppoll(waking_.data(), waking_.size(), &wait, nullptr) <= 0) return;
  // Events of an ended thread would wake this process forever.
  for (pollfd& each : waking_) {
    if ((each.revents & (POLLHUP | POLLERR)) != 0) each.fd = -1;
  }
  read([](const perf_event_header& /*header*/, PerfRecordReader /*reader*/) {});
}

void PerfStreams::enable(unsigned source, bool on) {
  for (std::size_t i = 0; i < fds_.size(); ++i) {
    if (sources_[i] == source) ::ioctl(fds_[i].get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  }
}

std::uint64_t PerfStreams::count(unsigned source) const {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < fds_.size(); ++i) {
    if (sources_[i] != source) continue;
    std::uint64_t values[2]{};
    if (::read(fds_[i].get(), &values[0], sizeof values) > 0) all += values[0];
  }
  return all;
}

std::uint64_t PerfStreams::lost() const {
  // A buffer reports a loss with its next event. A loss after the last event is reported only by reading the event
  // itself.
  std::uint64_t lost = 0;
  for (const UniqueFd& fd : fds_) {
    std::uint64_t values[2]{};  // the count, and the number of lost samples
    if (::read(fd.get(), &values[0], sizeof values) == sizeof values) lost += values[1];
  }
  std::uint64_t reported = 0;
  for (const Buffer& buffer : buffers_) reported += buffer.events.lost();
  return std::max(lost, reported);
}

}  // namespace zerotax
