#include "os/uprobe_event.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "os/pid_namespace.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

constexpr const char* kDefinitions = "uprobe_events";
constexpr const char* kPlaceField = "place";
/// A process that is just ending keeps its share of an event for some more milliseconds.
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

/// The process that made and owns an event. A PID names one process only together with its namespace and the start.
struct Owner {
  int pid = 0;
  unsigned long long start_ticks = 0;
  unsigned long long pid_namespace = 0;
};

Owner ourselves() {
  const auto facts = process_facts(::getpid());
  return {::getpid(), facts ? facts->start_ticks : 0, own_pid_namespace()};
}

std::string group_of(const Owner& owner) {
  return fmt::format("zerotax_{}_{}_{}", owner.pid, owner.start_ticks, owner.pid_namespace);
}

/// Whether an owner has ended. The answer is false for a process in another namespace, which we cannot see.
bool has_ended(const Owner& owner) {
  if (owner.pid_namespace != own_pid_namespace()) return false;
  const auto facts = process_facts(owner.pid);
  return !facts || facts->start_ticks != owner.start_ticks;
}

int remove_event(const Tracefs& tracefs, const std::string& name) { return tracefs.add(kDefinitions, "-:" + name); }

/// Removes the events whose owners were killed.
void sweep(const Tracefs& tracefs) {
  std::istringstream lines(tracefs.read(kDefinitions));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    // "p:zerotax_812_93320_4026531836/store /proc/self/fd/9:0x000000000016e046 place=\0:u32"
    const std::size_t colon = line.find(':');
    const std::size_t end = line.find(' ');
    if (colon == std::string::npos || end == std::string::npos || end < colon) continue;
    const std::string name = line.substr(colon + 1, end - colon - 1);
    Owner owner;
    if (std::sscanf(name.c_str(), "zerotax_%d_%llu_%llu/", &owner.pid, &owner.start_ticks, &owner.pid_namespace) == 3 &&
        has_ended(owner)) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) (void)remove_event(tracefs, name);
}

}  // namespace

UprobeEvent::UprobeEvent(const std::vector<UprobePlace>& places) : name_(group_of(ourselves()) + "/store") {
  sweep(tracefs_);
  try {
    for (std::size_t i = 0; i < places.size(); ++i) {
      // A path by descriptor: the kernel splits the line at spaces, and the file's own path may contain some.
      const UniqueFd file(::open(places[i].path.c_str(), O_PATH | O_CLOEXEC));
      if (!file) throw std::system_error(errno, std::generic_category());
      const int error = tracefs_.add(kDefinitions, fmt::format("p:{} /proc/self/fd/{}:{:#x} {}=\\{}:u32", name_,
                                                               file.get(), places[i].file_offset, kPlaceField, i));
      if (error != 0) throw std::system_error(error, std::generic_category());
    }
    const auto event = read_trace_event(name_);
    if (!event) throw std::system_error(ENOENT, std::generic_category());
    event_ = *event;
  } catch (...) {
    (void)remove_event(tracefs_, name_);
    throw;
  }
}

UprobeEvent::~UprobeEvent() {
  for (int i = 0; i < kTries && remove_event(tracefs_, name_) == EBUSY; ++i) std::this_thread::sleep_for(kBetweenTries);
}

std::uint64_t UprobeEvent::place(const unsigned char* data, std::size_t bytes) const {
  return event_.number(kPlaceField, data, bytes);
}

}  // namespace zerotax
