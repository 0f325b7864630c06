#include "observe/page_sharing.h"

#include <algorithm>

namespace zerotax {

std::uint32_t PageSharing::new_frame(pid_t owner, std::uint32_t huge) {
  std::uint32_t frame = 0;
  if (unused_.empty()) {
    frame = static_cast<std::uint32_t>(frames_.size());
    frames_.emplace_back();
  } else {
    frame = unused_.back();
    unused_.pop_back();
  }
  frames_[frame] = {{}, huge};
  add_owner(frame, owner);
  return frame;
}

void PageSharing::add_owner(std::uint32_t frame, pid_t pid) {
  frames_[frame].owners.push_back(pid);
  if (frames_[frame].huge != 0) ++huge_[frames_[frame].huge][pid];
}

/// Returns false if the process did not own the frame.
bool PageSharing::remove_owner(Frame& frame, pid_t pid) {
  if (std::erase(frame.owners, pid) == 0) return false;
  if (frame.huge == 0) return true;
  auto& parts = huge_[frame.huge];
  if (--parts[pid] == 0) parts.erase(pid);
  return true;
}

void PageSharing::release(std::uint32_t frame, pid_t pid) {
  // keep_only() or write_fault() may have removed the owner already.
  if (remove_owner(frames_[frame], pid) && frames_[frame].owners.empty()) unused_.push_back(frame);
}

void PageSharing::fork(pid_t parent, pid_t child) {
  end(child);
  Pages& mine = processes_[parent];
  for (auto& [number, page] : mine) {
    page.write_protected = true;
    add_owner(page.frame, child);
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
  // The page is populated, so its next fault can only be a write-protect fault.
  entry->second = {0, true, time_ns};
  if (shared && with != 0) {
    const auto other = processes_.find(with);
    if (other != processes_.end()) {
      const auto same = other->second.find(number);
      if (same != other->second.end()) {
        remove_owner(frames_[same->second.frame], 0);  // this process was the unwatched owner
        add_owner(same->second.frame, pid);
        entry->second.frame = same->second.frame;
        return true;
      }
    }
  }
  entry->second.frame = new_frame(pid);
  if (shared) add_owner(entry->second.frame, 0);
  return true;
}

void PageSharing::found_anew(pid_t pid, std::uint64_t number, std::uint64_t time_ns, bool shared, pid_t with,
                             bool forked) {
  if (found(pid, number, time_ns, shared, with)) {
    // Only a fork write-protects a page. A page that only this process has may be filled again, but faults on it are
    // not reuse faults.
    processes_[pid][number].write_protected = shared || forked;
    return;
  }
  Page& page = processes_[pid][number];
  const bool alone = frames_[page.frame].owners.size() <= 1;
  if (!shared && !alone) {  // the process or all other owners copied the page
    release(page.frame, pid);
    page.frame = new_frame(pid);
  } else if (shared && alone) {
    add_owner(page.frame, 0);
    page.write_protected = true;
  }
}

void PageSharing::found_huge(pid_t pid, std::uint64_t first, std::uint64_t pages, std::uint64_t time_ns) {
  const auto huge = static_cast<std::uint32_t>(huge_.size());
  huge_.emplace_back();
  for (std::uint64_t number = first; number < first + pages; ++number) {
    const auto [entry, is_new] = processes_[pid].try_emplace(number);
    if (!is_new) release(entry->second.frame, pid);
    // The page is populated, so its next fault can only be a write-protect fault.
    entry->second = {new_frame(pid, huge), true, time_ns};
  }
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
  Frame& frame = frames_[page.frame];
  // The kernel does not report unmapping, so check whether the other owners still have the page.
  for (const pid_t other : std::vector<pid_t>(frame.owners)) {
    if (other != 0 && other != pid && !holds_(other, number)) remove_owner(frame, other);
  }
  const bool part_of_shared = frame.huge != 0 && huge_[frame.huge].size() > 1;
  if (frame.owners.size() <= 1 && !part_of_shared) return FaultClass::kReuse;
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

FaultClass PageSharing::file_fault(pid_t pid, std::uint64_t number, std::uint64_t time_ns,
                                   std::optional<bool> is_copy) {
  Pages& pages = processes_[pid];
  const auto known = pages.find(number);
  if (known != pages.end()) {
    if (known->second.write_protected && known->second.since_ns <= time_ns) {
      return write_fault(pid, number, known->second);
    }
    return FaultClass::kFile;  // the page was read, then written: two faults, of which only the second copied the page
  }
  if (!is_copy) return FaultClass::kOther;
  if (!*is_copy) return FaultClass::kFile;
  pages[number] = {new_frame(pid), false, time_ns};
  return FaultClass::kCopy;
}

}  // namespace zerotax
