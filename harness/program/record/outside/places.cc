#include "record/outside/places.h"

#include <cstring>

#include "observe/foreign_program.h"
#include "os/processor.h"
#include "record/outside/cpu_samples.h"

namespace zerotax::record {
namespace {

constexpr std::size_t kMostFrames = 24;

Stack place_of(const Stack& stack) {
  Stack place(stack.begin() + (stack.empty() ? 0 : 1), stack.end());  // without the outermost frame, which is the
                                                                      // program's name
  while (place.size() > 1 && works_for_caller(place.back().function)) place.pop_back();
  if (place.size() > kMostFrames) place.erase(place.begin(), place.end() - kMostFrames);
  return place;
}

/// Returns the return address of a function that has stored nothing on the stack; 0 if the address is unknown. Removes
/// the return address from the stack if it is there.
std::uint64_t return_from(PerfEvent& event) {
  if constexpr (kLinkRegister >= 0) return event.registers[static_cast<std::size_t>(kLinkRegister)];
  std::uint64_t back = 0;
  if (event.stack.size() < sizeof back) return 0;
  std::memcpy(&back, event.stack.data(), sizeof back);
  event.registers[kStackPointer] += sizeof back;
  event.stack.erase(event.stack.begin(), event.stack.begin() + sizeof back);
  return back;
}

/// Adds the callers to a stack that lacks them. A stack lacks its callers if its innermost function has no call frame
/// information, such as musl's memset. That function works for its caller, and has stored nothing on the stack.
Stack through_caller(const PerfEvent& event, Stack stack, Unwinder& unwinder) {
  if (stack.size() != 2 || !works_for_caller(stack.back().function)) return stack;
  PerfEvent caller = event;
  const std::uint64_t back = return_from(caller);
  if (back == 0) return stack;
  const Unwinder::Mapping* mapping = unwinder.mapping_of(back);
  if (mapping == nullptr || !mapping->name.starts_with('/')) return stack;
  caller.registers[kProgramCounter] = back;
  Stack all{stack.front()};
  for (Frame& frame : unwinder.frames(caller)) all.push_back(std::move(frame));
  all.push_back(stack.back());
  return all;
}

bool is_address(const std::string& name) { return name.starts_with("0x"); }

}  // namespace

PlaceFinder::Found PlaceFinder::find(const PerfEvent& event, const Stack& sampled, Unwinder& unwinder) {
  Stack stack = through_caller(event, sampled, unwinder);
  Stack key = place_of(stack);
  return {std::move(key), std::move(stack)};
}

std::vector<Spot> PlaceFinder::spots(const Found& found, pid_t pid, Unwinder& unwinder) {
  std::vector<Spot> spots;
  // The innermost function of a whole stack has the address of its current instruction. All others have return
  // addresses.
  const bool whole = found.stack.size() == found.key.size() + 1;
  for (std::size_t i = found.key.size(); i-- > 0;) {
    spots.push_back(spot(found.key[i], !whole || i + 1 != found.key.size(), pid, unwinder));
  }
  return spots;
}

/// `caller`: the frame's address is a return address.
Spot PlaceFinder::spot(const Frame& frame, bool caller, pid_t pid, Unwinder& unwinder) {
  Spot spot{frame, "", "", 0};
  const std::uint64_t address = frame.address - (caller && frame.address != 0 ? 1 : 0);
  const Unwinder::Mapping* mapping = unwinder.mapping_of(address);
  if (frame.script != Frame::Script::kNone || mapping == nullptr || !mapping->name.starts_with('/')) return spot;
  spot.name = mapping->name;
  spot.pid = pid;
  File& file = files_[{pid, mapping->begin, mapping->inode, mapping->name}];
  if (file.path.empty()) {
    const MappedProcessFile mapped{mapping->begin, mapping->end, mapping->name, mapping->inode, mapping->device};
    file.path = !mapping->path.empty() ? mapping->path : opened_.find(pid, mapped);
    file.bias = load_bias_of(ForeignProgram(file.path).segments(), mapping->begin, mapping->file_offset)
                    .value_or(mapping->begin);
  }
  spot.path = file.path;
  spot.address = address - file.bias;
  return spot;
}

std::vector<NamedFrame> name_spots(const std::vector<Spot>& spots, Symbols& symbols) {
  std::vector<NamedFrame> frames;
  for (const Spot& spot : spots) {
    if (spot.frame.script != Frame::Script::kNone) {
      frames.push_back(frame_of_script({spot.frame.function, spot.frame.module, 0}));
      continue;
    }
    NamedFrame frame = symbols.frame(spot.path, {}, spot.address, spot.pid, spot.name);
    if (!spot.name.empty()) frame.module = spot.name;
    if (!is_address(spot.frame.function)) {
      frame.function = spot.frame.function;
      frame.after.reset();
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace zerotax::record
