#include "observe/address_space.h"

#include <iterator>
#include <utility>

#include "observe/interpreter.h"

namespace zerotax {

Region region_of(ProcessMapping mapping, bool unreported) {
  return {mapping.begin,           mapping.end,      mapping.file_offset, mapping.shared, false,
          std::move(mapping.name), mapping.writable, mapping.executable,  mapping.inode,  unreported,
          mapping.device};
}

// Mapping /dev/zero is an old method to get anonymous memory (zero(4)).
bool Region::of_file() const { return shared || (!name.empty() && name[0] == '/' && name != "/dev/zero"); }

bool Region::has_file_code() const { return !name.empty() && name[0] == '/' && !name.starts_with("/memfd:"); }

void AddressSpace::map(Region region) {
  if (region.name == "//anon") region.name.clear();
  if (region.executable && interpreter_of(region.name).name.starts_with("CPython")) has_python_ = true;
  auto old = regions_.upper_bound(region.begin);
  if (old != regions_.begin() && std::prev(old)->second.end > region.begin) --old;
  while (old != regions_.end() && old->second.begin < region.end) {
    Region cut = std::move(old->second);
    old = regions_.erase(old);
    if (cut.end > region.end) {
      Region behind = cut;
      behind.file_offset += region.end - cut.begin;
      behind.begin = region.end;
      old = regions_.emplace(behind.begin, std::move(behind)).first;
    }
    if (cut.begin < region.begin) {
      cut.end = region.begin;
      regions_.emplace(cut.begin, std::move(cut));
    }
  }
  regions_[region.begin] = std::move(region);
}

const Region* AddressSpace::find(std::uint64_t address) const {
  const auto next = regions_.upper_bound(address);
  if (next == regions_.begin()) return nullptr;
  const Region& region = std::prev(next)->second;
  return address < region.end ? &region : nullptr;
}

}  // namespace zerotax
