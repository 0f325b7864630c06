#include "trace/page_sharing.h"

#include <algorithm>

namespace zerotax {

std::uint32_t PageSharing::new_frame(pid_t owner) {
  if (unused_.empty()) {
    frames_.push_back({owner});
    return static_cast<std::uint32_t>(frames_.size() - 1);
  }
  const std::uint32_t frame = unused_.back();
  unused_.pop_back();
  frames_[frame] = {owner};
  return frame;
}

void PageSharing::release(std::uint32_t frame, pid_t pid) {
  std::vector<pid_t>& owners = frames_[frame];
  const auto own = std::find(owners.begin(), owners.end(), pid);
  if (own == owners.end()) return;  // it was found to be gone
  owners.erase(own);
  if (owners.empty()) unused_.push_back(frame);
}

void PageSharing::fork(pid_t parent, pid_t child) {
  end(child);
  Pages& mine = processes_[parent];
  for (auto& [number, page] : mine) {
    page.write_protected = true;
    frames_[page.frame].push_back(child);
  }
  processes_[child] = mine;
}

void PageSharing::end(pid_t pid) {
  const auto known = processes_.find(pid);
  if (known == processes_.end()) return;
  for (const auto& [number, page] : known->second) release(page.frame, pid);
  processes_.erase(known);
}

bool PageSharing::found(pid_t pid, std::uint64_t number, std::uint64_t time_ns, bool shared, pid_t with) {
  const auto [entry, is_new] = processes_[pid].try_emplace(number);
  if (!is_new) return false;
  // Whatever it is, the next fault on it can only be for its protection.
  entry->second = {0, true, time_ns};
  if (shared && with != 0) {
    const auto other = processes_.find(with);
    if (other != processes_.end()) {
      const auto same = other->second.find(number);
      if (same != other->second.end()) {
        std::vector<pid_t>& owners = frames_[same->second.frame];
        std::erase(owners, 0);  // the one that was not known is this one
        owners.push_back(pid);
        entry->second.frame = same->second.frame;
        return true;
      }
    }
  }
  entry->second.frame = new_frame(pid);
  if (shared) frames_[entry->second.frame].push_back(0);
  return true;
}

void PageSharing::keep_only(pid_t pid, const std::unordered_set<std::uint64_t>& pages) {
  std::erase_if(processes_[pid], [&](const auto& entry) {
    if (pages.contains(entry.first)) return false;
    release(entry.second.frame, pid);
    return true;
  });
}

FaultClass PageSharing::write_fault(pid_t pid, std::uint64_t number, Page& page) {
  page.write_protected = false;
  std::vector<pid_t>& owners = frames_[page.frame];
  // Nobody tells of what is unmapped: look, before it is said that they hold the page.
  std::erase_if(owners, [&](pid_t other) { return other != 0 && other != pid && !holds_(other, number); });
  if (owners.size() <= 1) return FaultClass::kReuse;
  release(page.frame, pid);
  page.frame = new_frame(pid);
  return FaultClass::kCopy;
}

FaultClass PageSharing::anonymous_fault(pid_t pid, std::uint64_t number, std::uint64_t time_ns) {
  const auto [entry, is_new] = processes_[pid].try_emplace(number);
  Page& page = entry->second;
  if (is_new) page.frame = new_frame(pid);
  const bool was_there = !is_new && page.since_ns <= time_ns;
  if (was_there && page.write_protected) return write_fault(pid, number, page);
  if (!is_new) {
    release(page.frame, pid);
    page.frame = new_frame(pid);
  }
  page.write_protected = false;
  page.since_ns = time_ns;
  return FaultClass::kZeroFill;
}

FaultClass PageSharing::file_fault(pid_t pid, std::uint64_t number, std::uint64_t time_ns, bool is_copy) {
  Pages& pages = processes_[pid];
  const auto known = pages.find(number);
  if (known != pages.end()) {
    if (known->second.write_protected && known->second.since_ns <= time_ns) {
      return write_fault(pid, number, known->second);
    }
    return FaultClass::kFile;  // it was read, then written: two faults, of which one copied
  }
  if (!is_copy) return FaultClass::kFile;
  pages[number] = {new_frame(pid), false, time_ns};
  return FaultClass::kCopy;
}

}  // namespace zerotax
