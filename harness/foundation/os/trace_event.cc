#include "os/trace_event.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
/// Number of attempts to remove an event, because an ending process keeps its share of the event for a few
/// milliseconds.
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

/// The process that made and owns an event. A PID identifies one process only together with its namespace and start
/// time.
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

/// Whether an owner has ended. Returns false for a process in another namespace, which zerotax cannot see.
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
    // A line is like "p:zerotax_812_93320_4026531836/store /proc/self/fd/9:0x000000000016e046 place=\0:u32".
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

Tracefs::Tracefs() {
  const UniqueFd context(::fsopen("tracefs", FSOPEN_CLOEXEC));
  if (context && ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0) {
    root_ = UniqueFd(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  }
  if (!root_) error_ = errno;
}

std::string Tracefs::read(const std::string& path) const {
  if (!root_) return "";
  const UniqueFd file(::openat(root_.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file.get(), &part[0], sizeof part)) > 0;) {
    text.append(&part[0], static_cast<std::size_t>(got));
  }
  return text;
}

int Tracefs::add(const std::string& path, const std::string& line) const {
  if (!root_) return error_;
  // Without O_APPEND, opening the file would delete the definitions of other programs.
  const UniqueFd file(::openat(root_.get(), path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file) return errno;
  const std::string text = line + "\n";
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

std::uint64_t TraceEvent::number(const char* field, const unsigned char* data, std::size_t bytes) const {
  const auto found = fields.find(field);
  if (found == fields.end()) return 0;
  const Field& where = found->second;
  std::uint64_t value = 0;
  if (where.bytes > sizeof value || where.offset + where.bytes > bytes) return 0;
  std::memcpy(&value, data + where.offset, where.bytes);  // the cast is correct because the processor is little-endian
  return value;
}

std::optional<TraceEvent> parse_trace_event(const std::string& format) {
  TraceEvent event;
  std::istringstream lines(format);
  for (std::string line; std::getline(lines, line);) {
    unsigned long long id = 0;
    if (std::sscanf(line.c_str(), "ID: %llu", &id) == 1) event.id = id;
    // A line is like "        field:unsigned long address;    offset:8;       size:8; signed:0;".
    const std::size_t end = line.find(';');
    if (line.find("field:") == std::string::npos || end == std::string::npos) continue;
    TraceEvent::Field field;
    int is_signed = 0;
    if (std::sscanf(line.c_str() + end, "; offset:%zu; size:%zu; signed:%d;", &field.offset, &field.bytes, &is_signed) <
        2) {
      continue;
    }
    field.is_signed = is_signed != 0;
    const std::size_t space = line.rfind(' ', end);
    const std::size_t begin = line.find("field:") + 6;
    if (space == std::string::npos || space < begin) continue;
    field.type = line.substr(begin, space - begin);
    std::string name = line.substr(space + 1, end - space - 1);
    if (const std::size_t bracket = name.find('['); bracket != std::string::npos) {
      field.count = std::strtoul(name.c_str() + bracket + 1, nullptr, 10);
      name.resize(bracket);
    }
    event.fields[name] = field;
  }
  if (event.id == 0 || event.fields.empty()) return std::nullopt;
  return event;
}

std::optional<TraceEvent> read_trace_event(const std::string& name) {
  return parse_trace_event(Tracefs().read("events/" + name + "/format"));
}

std::vector<std::string> trace_event_names() {
  std::vector<std::string> names;
  std::istringstream lines(Tracefs().read("available_events"));
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  std::sort(names.begin(), names.end());
  return names;
}

PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes) {
  const auto value = [&](const char* field) { return event.number(field, raw, bytes); };
  const std::uint64_t flags = value("gfp_flags");
  const auto order = static_cast<unsigned>(value("order"));
  const bool huge = order > 0 && (flags & kGfpNoMemoryAllocator) != 0;
  const bool base = order == 0 && (flags & kGfpOfProgram) == kGfpOfProgram && (flags & kGfpOfFile) == 0;
  const bool zeroed = (flags & kGfpZero) != 0;
  const bool table = order == 0 && zeroed && (flags & kGfpAccount) != 0 && (flags & kGfpOfProgram) == 0;
  return {order, zeroed, value("migratetype") == kMovable, huge || base, table};
}

UprobeEvent::UprobeEvent(const std::vector<UprobePlace>& places) : name_(group_of(ourselves()) + "/store") {
  sweep(tracefs_);
  try {
    for (std::size_t i = 0; i < places.size(); ++i) {
      // The file is named by its descriptor, because the kernel splits the line at spaces, and the file's path may
      // contain spaces.
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
