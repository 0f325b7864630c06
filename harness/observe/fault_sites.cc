#include "observe/fault_sites.h"

#include <algorithm>

#include "observe/kernel_symbols.h"

namespace zerotax {
namespace {

constexpr const char* kKernel = "kernel";

}  // namespace

void FaultSites::add(const Fault& fault, FaultClass kind, bool refill, const Region* code,
                     const std::optional<Frame>& script) {
  if (script) return scripts_[*script].add(fault, kind, refill);
  Site site{fault.in_kernel() ? kKernel : "", fault.instruction};
  if (!fault.in_kernel() && code != nullptr && !code->name.empty()) {
    files_.try_emplace(code->name, Unwinder::Mapping{code->begin, code->end, code->file_offset, code->name});
    site = {code->name, fault.instruction - code->begin + code->file_offset};
  }
  sites_[site].add(fault, kind, refill);
}

std::vector<CodeFaults> FaultSites::by_function(std::uint32_t pid) const {
  const KernelSymbols kernel;
  std::map<std::string, Unwinder> unwinders;
  std::map<Frame, FaultCounts> by_frame = scripts_;
  for (const auto& [site, counts] : sites_) {
    Frame frame;
    if (site.file == kKernel) {
      frame = {kernel.name(site.offset), kKernel};
    } else if (const auto file = files_.find(site.file); file != files_.end()) {
      const auto [unwinder, is_new] = unwinders.try_emplace(site.file, pid);
      if (is_new) unwinder->second.map(file->second);
      frame = unwinder->second.name(file->second.begin + site.offset - file->second.file_offset);
    } else {
      frame = {"code that no file holds", ""};
    }
    by_frame[frame].add(counts);
  }
  std::vector<CodeFaults> code;
  code.reserve(by_frame.size());
  for (const auto& [frame, counts] : by_frame) code.push_back({frame, counts});
  std::stable_sort(code.begin(), code.end(), [](const CodeFaults& one, const CodeFaults& other) {
    return one.counts.copies > other.counts.copies;
  });
  return code;
}

}  // namespace zerotax
