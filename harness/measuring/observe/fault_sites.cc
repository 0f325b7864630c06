#include "observe/fault_sites.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/names.h"
#include "observe/kernel_symbols.h"

namespace zerotax {
namespace {

/// Unwinding is limited to 1/kShare of the elapsed time, because the same thread also reads the kernel's buffers. The
/// first kFreeNs of CPU time are not counted, because they are needed to open the program's files.
constexpr int kShare = 4;
constexpr std::int64_t kFreeNs = 3'000'000'000;
constexpr const char* kCLibrary[] = {"libc.so", "libc-2", "libc.musl", "libpthread", "ld-linux", "ld-musl"};

/// Returns whether a file belongs to glibc or musl, by the file's name. Older versions of glibc have several libraries.
bool is_c_library(const std::string& path) {
  const std::string name = file_name(path);
  return std::any_of(std::begin(kCLibrary), std::end(kCLibrary),
                     [&](const char* begin) { return name.starts_with(begin); });
}

constexpr const char* kKernel = "kernel";

}  // namespace

Unwinder::Mapping code_of(const Region& region) {
  return {region.begin, region.end, region.file_offset, region.name, region.inode, "", region.device};
}

Unwinder& FaultScripts::unwinder(pid_t pid, const AddressSpace& space) {
  auto& found = unwinders_[pid];
  if (!found) {
    found = std::make_shared<Unwinder>(static_cast<std::uint32_t>(pid));
    for (const auto& [begin, region] : space.regions()) {
      if (region.executable) found->map(code_of(region));
    }
  }
  return *found;
}

void FaultScripts::apply(const FaultEvent& event, const AddressSpace& space) {
  switch (event.kind) {
    case FaultEvent::Kind::kStack:
      taken_[event.tid] = {event.address, event.stack};
      return;
    case FaultEvent::Kind::kExec:
      // Opens the perf map while the process runs, because later events may be applied after the process has ended.
      unwinders_[event.pid] =
          std::make_shared<Unwinder>(static_cast<std::uint32_t>(event.pid), std::make_shared<PerfMap>(event.pid));
      return;
    case FaultEvent::Kind::kFork:
      unwinders_.erase(event.pid);
      // Only the parent's perf map names functions that were compiled before the fork.
      if (stacks_) unwinder(event.parent, space);
      if (const auto parent = unwinders_.find(event.parent); parent != unwinders_.end())
        unwinders_[event.pid] = parent->second;
      return;
    case FaultEvent::Kind::kMap: {
      const auto found = unwinders_.find(event.pid);
      if (found == unwinders_.end() || !event.executable) return;
      if (found->second.use_count() > 1)
        found->second = std::make_shared<Unwinder>(static_cast<std::uint32_t>(event.pid), *found->second);
      found->second->map({event.begin, event.end, event.file_offset, event.name, event.inode, "", event.device});
      return;
    }
    case FaultEvent::Kind::kExit:
      note(event.pid, space);
      unwinders_.erase(event.pid);
      taken_.erase(event.pid);
      return;
    default:
      return;
  }
}

void FaultScripts::note(pid_t pid, const AddressSpace& space) {
  const bool interprets = std::any_of(space.regions().begin(), space.regions().end(), [](const auto& each) {
    return each.second.executable && !interpreter_of(each.second.name).name.empty();
  });
  if (interprets) unwinder(pid, space).note_scripts(names_);
}

std::optional<FaultCaller> FaultScripts::of(const Fault& fault, const Region* code, const AddressSpace& space) {
  if (fault.in_kernel()) return std::nullopt;
  if (code == nullptr || !code->has_file_code()) {
    const PerfMapNames::Entry* entry = unwinder(fault.pid, space).scripts()->find(fault.instruction);
    if (entry != nullptr) return FaultCaller{script_frame(entry->function), ""};
  }
  if (!stacks_) return std::nullopt;
  return in_stack(fault, code != nullptr && is_c_library(code->name), unwinder(fault.pid, space));
}

std::optional<FaultCaller> FaultScripts::in_stack(const Fault& fault, bool in_c_library, Unwinder& unwinder) {
  const auto found = taken_.find(fault.tid);
  if (found == taken_.end() || found->second.address != fault.address) {
    ++counts_.lost;
    return std::nullopt;
  }
  const Taken taken = std::move(found->second);
  taken_.erase(found);
  ++counts_.taken;
  PerfMap& scripts = *unwinder.scripts();
  scripts.find(0);  // this call reads the perf map's new entries
  if (scripts.empty() && !in_c_library) return std::nullopt;
  if (spent_ns_ > kFreeNs + (monotonic_ns() - begin_ns_) / kShare) {
    ++counts_.skipped;
    return std::nullopt;
  }
  const std::int64_t begin = thread_cpu_ns();
  PerfEvent sample;
  sample.pid = static_cast<std::uint32_t>(fault.pid);
  sample.tid = static_cast<std::uint32_t>(fault.tid);
  sample.registers = taken.stack->registers;
  sample.stack = std::move(taken.stack->stack);
  sample.has_user = true;
  const Stack stack = unwinder.frames(sample);
  spent_ns_ += thread_cpu_ns() - begin;
  const auto script = std::find_if(stack.rbegin(), stack.rend(),
                                   [](const Frame& frame) { return frame.script != Frame::Script::kNone; });
  if (script != stack.rend()) return FaultCaller{*script, ""};
  const auto caller = std::find_if(stack.rbegin(), stack.rend(), [](const Frame& frame) {
    return !frame.module.empty() && !is_c_library(frame.module);
  });
  if (!in_c_library || caller == stack.rend()) return std::nullopt;
  return FaultCaller{*caller, stack.back().function};
}

FaultSites::Site FaultSites::site_of(const Fault& fault, const Region* code) {
  if (fault.in_kernel()) return {kKernel, fault.instruction};
  if (code == nullptr || code->name.empty()) return {"", fault.instruction};
  files_.try_emplace({code->inode, code->name}, code_of(*code));
  return {code->name, fault.instruction - code->begin + code->file_offset, code->inode};
}

void FaultSites::add(const Fault& fault, FaultClass kind, bool refill, const Region* code,
                     const std::optional<FaultCaller>& caller, std::uint64_t times) {
  if (caller) return callers_[*caller].add(fault, kind, refill, times);
  sites_[site_of(fault, code)].add(fault, kind, refill, times);
}

void FaultSites::add_copy(const Fault& fault, const Region* code, StoreTarget target, bool in_child,
                          std::uint64_t times) {
  WriterCopies& found = copies_[{site_of(fault, code), target}];
  found.copies += times;
  found.by_children += in_child ? times : 0;
  found.bytes += times * fault.copied_bytes();
}

/// Names of the functions that contain sites.
class FaultSites::Names {
 public:
  Names(const FaultSites& sites, std::uint32_t pid) : files_(sites.files_), pid_(pid) {}

  Frame of(const Site& site) {
    if (site.file == kKernel) return {kernel_.name(site.offset), kKernel};
    const auto file = files_.find({site.inode, site.file});
    if (file == files_.end()) return {"code that is in no file", ""};
    const auto [unwinder, is_new] = unwinders_.try_emplace(file->first, pid_);
    if (is_new) unwinder->second.map(file->second);
    return unwinder->second.name(file->second.begin + site.offset - file->second.file_offset);
  }

 private:
  const std::map<std::pair<std::uint64_t, std::string>, Unwinder::Mapping>& files_;
  std::uint32_t pid_;
  KernelSymbols kernel_;
  std::map<std::pair<std::uint64_t, std::string>, Unwinder> unwinders_;
};

std::vector<CodeFaults> FaultSites::by_function(std::uint32_t pid) const {
  Names names(*this, pid);
  std::map<FaultCaller, FaultCounts> by_caller = callers_;
  for (const auto& [site, counts] : sites_) by_caller[{names.of(site), ""}].add(counts);
  std::vector<CodeFaults> code;
  code.reserve(by_caller.size());
  for (const auto& [caller, counts] : by_caller) code.push_back({caller.frame, caller.through, counts});
  std::stable_sort(code.begin(), code.end(), [](const CodeFaults& one, const CodeFaults& other) {
    return one.counts.copies > other.counts.copies;
  });
  return code;
}

std::vector<WriterCopies> FaultSites::by_writer(std::uint32_t pid) const {
  Names names(*this, pid);
  std::map<std::pair<Writer, std::string>, WriterCopies> by_writer;
  for (const auto& [site, copies] : copies_) {
    const Frame frame = names.of(site.first);
    const Writer writer = writer_of(frame, site.second);
    const std::string module = writer == Writer::kUnknown ? frame.module : "";
    WriterCopies& found = by_writer[{writer, module}];
    found.writer = writer;
    found.module = module;
    found.copies += copies.copies;
    found.by_children += copies.by_children;
    found.bytes += copies.bytes;
  }
  std::vector<WriterCopies> all;
  all.reserve(by_writer.size());
  for (const auto& [key, copies] : by_writer) all.push_back(copies);
  std::stable_sort(all.begin(), all.end(),
                   [](const WriterCopies& one, const WriterCopies& other) { return one.copies > other.copies; });
  return all;
}

}  // namespace zerotax
