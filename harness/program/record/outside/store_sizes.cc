#include "record/outside/store_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "observe/foreign_program.h"
#include "observe/symbols.h"
#include "os/limits.h"
#include "os/perf_event.h"
#include "os/process_info.h"
#include "os/processor.h"
#include "record/outside/breakpoint_place.h"
#include "record/outside/memory_access.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kReadEvery{5};
constexpr const char* kRefused = "--sizes: the kernel does not permit uprobes";
constexpr const char* kLeaveOut = "leave out --sizes; stores of zeros are then sampled";
constexpr const char* kGoClear = "runtime.memclrNoHeapPointers";

/// Returns the calling convention of a function that stores zeros. Returns nothing for other functions. Also returns
/// nothing for a function whose calls are counted in another function that it calls.
std::optional<StoringFunction::Convention> convention_of(const std::string& name) {
  using enum StoringFunction::Convention;
  if (name == kGoClear) return kGo;
  if (name.find("chk") != std::string::npos || name.find("wmemset") != std::string::npos) return std::nullopt;
  if (name == "memset" || name.starts_with("__memset_")) return kMemset;
  if (name == "bzero" || name.starts_with("__bzero_")) return kBzero;
  return std::nullopt;
}

/// Bytes of code to examine. Breakpoints are always set closer to the function's start.
constexpr std::uint64_t kLookedAt = 64;
/// Maximum number of storing functions in a file. A static glibc has 14, and each costs the kernel a breakpoint.
constexpr std::size_t kMostOfFile = 100;

/// Returns the code at an offset. At the end of a file, the code may be shorter than kLookedAt.
std::string code_at(const ForeignProgram& file, std::uint64_t offset) {
  std::optional<std::string> code;
  for (std::uint64_t bytes = kLookedAt; !code && bytes > 0; bytes /= 2) code = file.bytes(offset, bytes);
  return code.value_or("");
}

struct Known {
  std::string name;
  StoringFunction::Convention convention;
};

/// Returns the functions that store zeros, by their offsets in the file.
std::map<std::uint64_t, Known> known_functions(const ForeignProgram& file, const FileId& id) {
  std::map<std::uint64_t, Known> found;
  for (const ElfFile::Function& function : file.functions({"memset", "bzero", kGoClear})) {
    const std::string own = libc_function(id, function.address);
    const std::string& name = own.empty() ? function.name : own;
    if (const auto convention = convention_of(name)) found.try_emplace(function.file_offset, Known{name, *convention});
  }
  // A stripped C library names only the functions that choose a variant.
  for (const auto& [name, address] : libc_functions(id)) {
    const auto convention = convention_of(name);
    const auto offset = offset_in(file.segments(), address);
    if (convention && offset) found.try_emplace(*offset, Known{name, *convention});
  }
  return found;
}

/// Whether this function begins with a jump to a memset in `functions`, directly or through code of the linker.
bool calls_memset(const ForeignProgram& file, unsigned machine, std::uint64_t offset,
                  const std::map<std::uint64_t, Known>& functions) {
  const auto jump = jumps_to(machine, code_at(file, offset));
  if (!jump) return false;
  const std::uint64_t target = offset + static_cast<std::uint64_t>(*jump);
  const auto is_memset = [](const auto& each) {
    return each.second.convention == StoringFunction::Convention::kMemset;
  };
  if (const auto found = functions.find(target); found != functions.end()) return is_memset(*found);
  return is_linkage(machine, code_at(file, target)) && std::any_of(functions.begin(), functions.end(), is_memset);
}

}  // namespace

StoringFunctions storing_functions(const std::string& path) {
  const ForeignProgram file(path);
  const std::map<std::uint64_t, Known> functions = known_functions(file, file_id(path));
  StoringFunctions found;
  if (functions.size() > kMostOfFile) {
    found.unwatched.push_back(fmt::format("functions of a file with more than {} names like memset", kMostOfFile));
    return found;
  }
  for (const auto& [offset, function] : functions) {
    const auto place =
        file.machine() == kElfMachine ? breakpoint_place(kElfMachine, code_at(file, offset)) : std::nullopt;
    if (!place) {
      found.unwatched.push_back(function.name);
    } else if (function.convention != StoringFunction::Convention::kBzero ||
               !calls_memset(file, kElfMachine, offset, functions)) {
      found.watched.push_back({function.name, {path, offset + *place}, function.convention});
    }
  }
  return found;
}

void StoreSizesWatch::Seen::add(std::uint64_t bytes_of_call) {
  const std::uint64_t from = std::bit_floor(bytes_of_call);
  Seen one{1, bytes_of_call, bytes_of_call, bytes_of_call, {}};
  one.sizes[from] = {from, 1, bytes_of_call};
  add(one);
}

void StoreSizesWatch::Seen::add(const Seen& more) {
  calls += more.calls;
  bytes += more.bytes;
  least = std::min(least, more.least);
  most = std::max(most, more.most);
  for (const auto& [from, size] : more.sizes) {
    SizeClass& sum = sizes[from];
    sum = {from, sum.calls + size.calls, sum.bytes + size.bytes};
  }
}

StoreSizesWatch::StoreSizesWatch(std::vector<pid_t> processes) : processes_(std::move(processes)) {
  for (const pid_t pid : processes_) find_functions(pid);
  if (functions_.empty() && unwatched_.empty()) {
    throw MachineError("--sizes: no function that stores zeros was found in the watched processes", kLeaveOut);
  }
  if (functions_.empty()) {
    throw MachineError(fmt::format("--sizes: no breakpoint is safe on {}", fmt::join(unwatched_, ", ")), kLeaveOut);
  }
  open();
  reader_ = Worker([this] {
    while (!done_) {
      read();
      std::this_thread::sleep_for(kReadEvery);
    }
  });
}

StoreSizesWatch::~StoreSizesWatch() {
  done_ = true;
  reader_.wait();
}

void StoreSizesWatch::find_functions(pid_t pid) {
  for (const ProcessMapping& mapped : process_mappings(pid)) {
    if (!mapped.executable || mapped.inode == 0) continue;
    const std::string path = files_.find(pid, {mapped.begin, mapped.end, mapped.name, mapped.inode, mapped.device});
    if (path.empty() || !looked_.insert(path).second) continue;
    StoringFunctions found = storing_functions(path);
    for (StoringFunction& each : found.watched) functions_.push_back(std::move(each));
    unwatched_.insert(found.unwatched.begin(), found.unwatched.end());
  }
}

void StoreSizesWatch::open() {
  std::vector<UprobePlace> places;
  places.reserve(functions_.size());
  for (const StoringFunction& each : functions_) places.push_back(each.place);
  try {
    event_.emplace(places);
  } catch (const std::system_error& refusal) {
    const int error = refusal.code().value();
    if (error != ENOENT) throw perf_refusal(kRefused, error, -1);
    throw MachineError("--sizes needs uprobes, and this kernel has none",
                       "leave out --sizes, or boot a kernel with CONFIG_UPROBE_EVENTS");
  }
  streams_.emplace(kBufferBytes, false);
  allow_many_files();
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = event_->id();
  attributes.sample_period = 1;
  attributes.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = argument_register_mask();
  attributes.sample_stack_user = sizeof(std::uint64_t);
  attributes.inherit = 1;
  for_each_thread(processes_, [&](pid_t thread) {
    open(attributes, thread);
    return true;
  });
}

void StoreSizesWatch::open(perf_event_attr attributes, pid_t thread) {
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    try {
      streams_->open(attributes, thread, false, cpu, 0);
    } catch (const std::system_error& refusal) {
      const int error = refusal.code().value();
      if (error == ENODEV) continue;  // the CPU is offline
      if (error == ESRCH) return;
      throw perf_refusal(kRefused, error, -1);
    }
  }
}

void StoreSizesWatch::read() {
  streams_->read([this](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_SAMPLE) take(reader);
  });
}

void StoreSizesWatch::take(PerfRecordReader reader) {
  reader.skip(8);  // PERF_SAMPLE_IDENTIFIER
  const auto pid = static_cast<pid_t>(reader.take<std::uint32_t>());
  reader.skip(4);  // the thread ID
  const std::size_t raw = std::min<std::size_t>(reader.take<std::uint32_t>(), reader.left());
  const std::uint64_t function = event_->place(reader.at(), raw);
  reader.skip(raw);
  if (function >= functions_.size()) return;
  const auto arguments = take_argument_registers(reader);
  if (!arguments) return;
  using enum StoringFunction::Convention;
  const StoringFunction::Convention convention = functions_[function].convention;
  if (convention == kMemset && (arguments->second & 0xff) != 0) {
    ++other_bytes_calls_;
    return;
  }
  const std::uint64_t bytes = convention == kGo      ? arguments->go_second
                              : convention == kBzero ? arguments->second
                                                     : arguments->third;
  const auto [entry, is_new] = callers_.try_emplace({pid, arguments->back, function});
  auto& [spot, seen] = entry->second;
  if (is_new) spot = spot_of(pid, arguments->back);
  seen.add(bytes);
}

/// Returns the location of an address in a process. If the process has ended, the other watched processes are tried,
/// because one of them may have forked it.
Spot StoreSizesWatch::spot_of(pid_t pid, std::uint64_t address) {
  Spot spot{{fmt::format("{:#x}", address), ""}, "", "", address};
  std::vector<pid_t> tried{pid};
  tried.insert(tried.end(), processes_.begin(), processes_.end());
  for (const pid_t each : tried) {
    for (const ProcessMapping& mapped : process_mappings(each)) {
      if (!mapped.executable || mapped.inode == 0 || address < mapped.begin || address >= mapped.end) continue;
      spot.name = mapped.name;
      spot.path = files_.find(each, {mapped.begin, mapped.end, mapped.name, mapped.inode, mapped.device});
      spot.pid = each;
      // The return address is the address after the call instruction. One byte less is an address inside the call
      // instruction.
      const auto bias = load_bias_of(ForeignProgram(spot.path).segments(), mapped.begin, mapped.file_offset);
      spot.address -= 1 + bias.value_or(mapped.begin);
      return spot;
    }
  }
  return spot;
}

StoreSizes StoreSizesWatch::finish() {
  done_ = true;
  reader_.join();
  read();
  StoreSizes sizes;
  sizes.lost_calls = streams_->lost();
  // The breakpoints are removed, so that calls no longer slow down the program.
  streams_.reset();
  event_.reset();
  std::set<std::string> names;
  for (const StoringFunction& each : functions_) names.insert(each.name);
  sizes.functions.assign(names.begin(), names.end());
  sizes.unwatched.assign(unwatched_.begin(), unwatched_.end());
  sizes.other_bytes_calls = other_bytes_calls_;
  Symbols symbols;
  // Callers are merged across processes, and across variants of a function.
  std::map<std::pair<std::string, std::string>, std::pair<NamedFrame, Seen>> merged;
  for (const auto& [key, found] : callers_) {
    const auto& [spot, seen] = found;
    NamedFrame frame = name_spots({spot}, symbols).front();
    auto& [first, sum] = merged[{frame_label(frame, false), functions_[std::get<2>(key)].name}];
    if (sum.calls == 0) first = std::move(frame);
    sum.add(seen);
    sizes.calls += seen.calls;
    sizes.bytes += seen.bytes;
  }
  for (auto& [key, found] : merged) {
    auto& [frame, seen] = found;
    StoreCaller caller{std::move(frame), key.second, seen.calls, seen.bytes, seen.least, seen.most, {}};
    for (const auto& [from, size] : seen.sizes) caller.sizes.push_back(size);
    sizes.callers.push_back(std::move(caller));
  }
  std::stable_sort(sizes.callers.begin(), sizes.callers.end(),
                   [](const StoreCaller& a, const StoreCaller& b) { return a.bytes > b.bytes; });
  return sizes;
}

}  // namespace zerotax::record
