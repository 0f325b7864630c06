#include "observe/fault_sites.h"

#include <algorithm>
#include <utility>

#include "observe/kernel_symbols.h"

namespace zerotax {
namespace {

constexpr const char* kKernel = "kernel";

}  // namespace

void FaultSites::add(const Fault& fault, FaultClass kind, bool refill, const Region* code,
                     const std::optional<FaultCaller>& caller, std::uint64_t times) {
  if (caller) return callers_[*caller].add(fault, kind, refill, times);
  Site site{fault.in_kernel() ? kKernel : "", fault.instruction};
  if (!fault.in_kernel() && code != nullptr && !code->name.empty()) {
    site = {code->name, fault.instruction - code->begin + code->file_offset, code->inode};
    files_.try_emplace({code->inode, code->name}, code_of(*code));
  }
  sites_[site].add(fault, kind, refill, times);
}

std::vector<CodeFaults> FaultSites::by_function(std::uint32_t pid) const {
  const KernelSymbols kernel;
  std::map<std::pair<std::uint64_t, std::string>, Unwinder> unwinders;
  std::map<FaultCaller, FaultCounts> by_caller = callers_;
  for (const auto& [site, counts] : sites_) {
    Frame frame;
    if (site.file == kKernel) {
      frame = {kernel.name(site.offset), kKernel};
    } else if (const auto file = files_.find({site.inode, site.file}); file != files_.end()) {
      const auto [unwinder, is_new] = unwinders.try_emplace(file->first, pid);
      if (is_new) unwinder->second.map(file->second);
      frame = unwinder->second.name(file->second.begin + site.offset - file->second.file_offset);
    } else {
      frame = {"code that no file holds", ""};
    }
    by_caller[{std::move(frame), ""}].add(counts);
  }
  std::vector<CodeFaults> code;
  code.reserve(by_caller.size());
  for (const auto& [caller, counts] : by_caller) code.push_back({caller.frame, caller.through, counts});
  std::stable_sort(code.begin(), code.end(), [](const CodeFaults& one, const CodeFaults& other) {
    return one.counts.copies > other.counts.copies;
  });
  return code;
}

}  // namespace zerotax
