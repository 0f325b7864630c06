#include "record/outside/store_sizes.h"

#include <asm/perf_regs.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "observe/libc_functions.h"
#include "os/elf_file.h"
#include "os/limits.h"
#include "os/perf_refusal.h"
#include "os/process_info.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kReadEvery{5};
constexpr const char* kPmu = "/sys/bus/event_source/devices/uprobe/type";
/// ENOTSUPP, which no header for programs has: the kernel cannot put a breakpoint on the function's first instruction.
constexpr int kNotSupported = 524;
constexpr const char* kGoClear = "runtime.memclrNoHeapPointers";

/// Of what a call was told, in the order of a sample: rax, rbx, rdx, rsi.
constexpr std::uint64_t kRegisters =
    1U << PERF_REG_X86_AX | 1U << PERF_REG_X86_BX | 1U << PERF_REG_X86_DX | 1U << PERF_REG_X86_SI;

/// Nothing of any other function, and of one whose calls another counts.
std::optional<StoringFunction::Told> told_by(const std::string& name) {
  using enum StoringFunction::Told;
  if (name == kGoClear) return kGo;
  if (name.find("chk") != std::string::npos || name.find("wmemset") != std::string::npos) return std::nullopt;
  if (name == "memset" || name.starts_with("__memset_")) return kMemset;
  if (name == "bzero" || name.starts_with("__bzero_")) return kBzero;
  return std::nullopt;
}

/// glibc's variants for AVX begin with vmovd %esi, %xmm0, or vpxor %xmm0, %xmm0, %xmm0 and vmovd %esi, %xmm1, on which
/// the kernel takes no breakpoint. These change nothing of what the function was told: the next instruction does as
/// well.
std::uint64_t probed_offset(const ElfFile& file, std::uint64_t offset) {
  constexpr std::uint64_t kBytes = 4;
  static const std::set<std::string> skipped{"\xc5\xf9\x6e\xc6", "\xc5\xf9\xef\xc0", "\xc5\xf9\x6e\xce"};
  while (skipped.count(file.bytes(offset, kBytes).value_or("")) != 0) offset += kBytes;
  return offset;
}

struct MappedFile {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  std::string name;
};

/// The files whose code a process has mapped.
std::vector<MappedFile> mapped_code(pid_t pid) {
  std::vector<MappedFile> found;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    unsigned long inode = 0;
    char permissions[5]{};
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %lu %n", &begin, &end, permissions, &offset, &inode, &path) <
        5) {
      continue;
    }
    if (permissions[2] == 'x' && inode != 0)
      found.push_back({begin, end, offset, inode, line.substr(static_cast<std::size_t>(path))});
  }
  return found;
}

std::uint32_t pmu_type() {
  std::uint32_t type = 0;
  std::ifstream(kPmu) >> type;
  if (type != 0) return type;
  throw MachineError("--sizes needs uprobes, and this kernel has none for perf",
                     "leave --sizes out, or boot a kernel with CONFIG_UPROBE_EVENTS");
}

}  // namespace

std::vector<StoringFunction> storing_functions(const std::string& path) {
  const ElfFile file(path);
  std::vector<StoringFunction> found;
  std::set<std::uint64_t> offsets;
  for (const ElfFile::Function& function : file.functions()) {
    const std::string own = libc_function(path, function.address);
    const std::string& name = own.empty() ? function.name : own;
    const auto told = told_by(name);
    if (told && offsets.insert(function.file_offset).second) {
      found.push_back({name, path, probed_offset(file, function.file_offset), *told});
    }
  }
  // A stripped C library names only what picks them.
  for (const auto& [name, address] : libc_functions(path)) {
    const auto told = told_by(name);
    const auto offset = file.offset_of(address);
    if (told && offset && offsets.insert(*offset).second) {
      found.push_back({name, path, probed_offset(file, *offset), *told});
    }
  }
  return found;
}

StoreSizesWatch::StoreSizesWatch(std::vector<pid_t> processes) : processes_(std::move(processes)) {
  pmu_type();
  for (const pid_t pid : processes_) find_functions(pid);
  if (functions_.empty()) {
    throw MachineError("--sizes: no function that stores zeros was found in the watched processes",
                       "leave --sizes out: stores of zeros are sampled");
  }
  streams_ = std::make_unique<PerfStreams>(kBufferBytes, false);
  allow_many_files();
  for (const pid_t pid : processes_) {
    for (const pid_t thread : process_threads(pid)) open(thread);
  }
  if (unwatched_.size() == functions_.size()) {
    throw MachineError(fmt::format("--sizes: this kernel cannot put an uprobe on {}", fmt::join(unwatched_, ", ")),
                       "leave --sizes out: stores of zeros are sampled");
  }
  reader_ = std::thread([this] {
    while (!done_) {
      read();
      std::this_thread::sleep_for(kReadEvery);
    }
  });
}

StoreSizesWatch::~StoreSizesWatch() {
  done_ = true;
  if (reader_.joinable()) reader_.join();
}

void StoreSizesWatch::find_functions(pid_t pid) {
  for (const MappedFile& mapped : mapped_code(pid)) {
    const std::string path = files_.find(pid, mapped.begin, mapped.end, mapped.name, mapped.inode);
    const bool known = std::any_of(functions_.begin(), functions_.end(),
                                   [&](const StoringFunction& each) { return each.path == path; });
    if (path.empty() || known) continue;
    for (StoringFunction& each : storing_functions(path)) functions_.push_back(std::move(each));
  }
}

void StoreSizesWatch::open(pid_t thread) {
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const StoringFunction& function = functions_[i];
    perf_event_attr attributes{};
    attributes.type = pmu_type();
    attributes.config1 = reinterpret_cast<std::uintptr_t>(function.path.c_str());
    attributes.config2 = function.file_offset;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = kRegisters;
    attributes.sample_stack_user = sizeof(std::uint64_t);
    attributes.inherit = 1;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      try {
        streams_->open(attributes, thread, false, cpu, static_cast<unsigned>(i));
      } catch (const std::system_error& refusal) {
        const int error = refusal.code().value();
        if (error == ENODEV) continue;  // an offline CPU
        if (error == kNotSupported) {
          unwatched_.insert(function.name);
          break;
        }
        if (error == ESRCH) return;
        throw perf_refusal("--sizes: the kernel does not permit uprobes", error, -1);
      }
    }
  }
}

void StoreSizesWatch::read() {
  streams_->read([this](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_SAMPLE) take(reader);
  });
}

void StoreSizesWatch::take(PerfRecordReader reader) {
  const auto source = streams_->source_of(reader.take<std::uint64_t>());
  const auto pid = static_cast<pid_t>(reader.take<std::uint32_t>());
  reader.skip(4);  // the thread
  if (!source || reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return;
  reader.skip(8);  // rax
  const auto rbx = reader.take<std::uint64_t>();
  const auto rdx = reader.take<std::uint64_t>();
  const auto rsi = reader.take<std::uint64_t>();
  if (reader.take<std::uint64_t>() < sizeof(std::uint64_t)) return;  // no stack
  const auto back = reader.take<std::uint64_t>();
  using enum StoringFunction::Told;
  const StoringFunction::Told told = functions_[*source].told;
  if (told == kMemset && (rsi & 0xff) != 0) {
    ++other_bytes_calls_;
    return;
  }
  const std::uint64_t bytes = told == kGo ? rbx : told == kBzero ? rsi : rdx;
  const auto [entry, is_new] = callers_.try_emplace({pid, back, *source});
  auto& [place, seen] = entry->second;
  if (is_new) place = place_of(pid, back);
  ++seen.calls;
  seen.bytes += bytes;
  seen.least = std::min(seen.least, bytes);
  seen.most = std::max(seen.most, bytes);
  const auto bits = static_cast<unsigned>(std::bit_width(bytes));
  SizeClass& size = seen.sizes[bits];
  size.from_bytes = bits == 0 ? 0 : std::uint64_t{1} << (bits - 1);
  ++size.calls;
  size.bytes += bytes;
}

/// While the process lives; of one that is gone, as in one that may have forked it.
StoreSizesWatch::Place StoreSizesWatch::place_of(pid_t pid, std::uint64_t address) {
  std::vector<pid_t> tried{pid};
  tried.insert(tried.end(), processes_.begin(), processes_.end());
  for (const pid_t each : tried) {
    for (const MappedFile& mapped : mapped_code(each)) {
      if (address < mapped.begin || address >= mapped.end) continue;
      const std::string path = files_.find(each, mapped.begin, mapped.end, mapped.name, mapped.inode);
      const std::uint64_t bias = ElfFile(path).load_bias(mapped.begin, mapped.offset).value_or(mapped.begin);
      return {path, mapped.name, address - 1 - bias};  // within the call
    }
  }
  return {"", "", address};
}

StoreSizes StoreSizesWatch::finish() {
  done_ = true;
  reader_.join();
  read();
  StoreSizes sizes;
  std::set<std::string> names;
  for (const StoringFunction& each : functions_) names.insert(each.name);
  for (const std::string& each : unwatched_) names.erase(each);
  sizes.functions.assign(names.begin(), names.end());
  sizes.unwatched.assign(unwatched_.begin(), unwatched_.end());
  sizes.lost_calls = streams_->lost();
  sizes.other_bytes_calls = other_bytes_calls_;
  Symbols symbols;
  // Of several processes, and of variants of a function, the callers are one.
  std::map<std::pair<std::string, std::string>, StoreCaller> merged;
  for (const auto& [key, found] : callers_) {
    const auto& [place, seen] = found;
    NamedFrame frame = symbols.frame(place.path, {}, place.address);
    if (!place.name.empty()) frame.module = place.name;
    const std::string& name = functions_[std::get<2>(key)].name;
    const auto [entry, is_new] = merged.try_emplace({frame_label(frame, false), name});
    StoreCaller& caller = entry->second;
    if (is_new) {
      caller.frame = frame;
      caller.function = name;
      caller.smallest_bytes = seen.least;
    }
    caller.calls += seen.calls;
    caller.bytes += seen.bytes;
    caller.smallest_bytes = std::min(caller.smallest_bytes, seen.least);
    caller.largest_bytes = std::max(caller.largest_bytes, seen.most);
    for (const auto& by_bits : seen.sizes) {
      const SizeClass& size = by_bits.second;
      auto at = std::find_if(caller.sizes.begin(), caller.sizes.end(),
                             [&](const SizeClass& each) { return each.from_bytes >= size.from_bytes; });
      if (at == caller.sizes.end() || at->from_bytes != size.from_bytes) {
        at = caller.sizes.insert(at, {size.from_bytes, 0, 0});
      }
      at->calls += size.calls;
      at->bytes += size.bytes;
    }
    sizes.calls += seen.calls;
    sizes.bytes += seen.bytes;
  }
  for (auto& [key, caller] : merged) sizes.callers.push_back(std::move(caller));
  std::stable_sort(sizes.callers.begin(), sizes.callers.end(),
                   [](const StoreCaller& a, const StoreCaller& b) { return a.bytes > b.bytes; });
  return sizes;
}

}  // namespace zerotax::record
