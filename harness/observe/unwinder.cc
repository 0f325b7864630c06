#include "observe/unwinder.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/names.h"
#include "observe/libc_functions.h"

namespace zerotax {
namespace {

/// Deeper stacks are cut: what matters is near the top.
constexpr std::size_t kMostFrames = 192;
constexpr std::size_t kStackPointer = 7;
constexpr std::size_t kProgramCounter = 16;

char* debug_path = nullptr;  // elfutils' own: beside the file, in .debug, under /usr/lib/debug

/// Where the code that an address lies in begins, in the file's own numbering: the start of its row of call frame
/// information, which for a function that keeps nothing on the stack is its own. 0 if there is none.
std::uint64_t code_start(Dwfl_Module* module, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_CFI* information = ::dwfl_module_eh_cfi(module, &bias);
  Dwarf_Frame* frame = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address - bias, &frame) != 0) return 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const int known = ::dwarf_frame_info(frame, &start, &end, nullptr);
  std::free(frame);
  return known >= 0 ? start : 0;
}

int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

constexpr Dwfl_Callbacks kCallbacks = {no_elf, dwfl_standard_find_debuginfo, nullptr, &debug_path};

}  // namespace

struct Unwinder::Session {
  Dwfl* dwfl = nullptr;
  bool attached = false;
  const PerfEvent* sample = nullptr;  ///< that is being unwound
  std::vector<std::uint64_t> addresses;

  Session() : dwfl(::dwfl_begin(&kCallbacks)) {}
  ~Session() {
    if (dwfl != nullptr) ::dwfl_end(dwfl);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool attach(std::uint32_t pid) {
    static constexpr Dwfl_Thread_Callbacks kThreads = {next_thread,   nullptr, read_memory,
                                                       set_registers, nullptr, nullptr};
    if (!attached) attached = ::dwfl_attach_state(dwfl, nullptr, static_cast<pid_t>(pid), &kThreads, this);
    return attached;
  }

  // There is one thread at a time: the one of the sample. It goes by the number of the process.
  static pid_t next_thread(Dwfl* dwfl, void* argument, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = argument;
    return ::dwfl_pid(dwfl);
  }

  static bool read_memory(Dwfl* /*dwfl*/, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
    const PerfEvent& sample = *static_cast<Session*>(argument)->sample;
    const std::uint64_t begin = sample.registers[kStackPointer];
    if (address < begin || address - begin + sizeof *word > sample.stack.size()) return false;
    std::memcpy(word, sample.stack.data() + (address - begin), sizeof *word);
    return true;
  }

  static bool set_registers(Dwfl_Thread* thread, void* argument) {
    const PerfEvent& sample = *static_cast<Session*>(argument)->sample;
    ::dwfl_thread_state_register_pc(thread, sample.registers[kProgramCounter]);
    return ::dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(sample.registers.size()),
                                         sample.registers.data());
  }

  static int on_frame(Dwfl_Frame* frame, void* argument) {
    auto& addresses = static_cast<Session*>(argument)->addresses;
    Dwarf_Addr address = 0;
    bool exact = false;
    if (!::dwfl_frame_pc(frame, &address, &exact)) return DWARF_CB_ABORT;
    // A return address may be that of the next function: the call is before it.
    addresses.push_back(exact ? address : address - 1);
    return addresses.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
};

Unwinder::Unwinder(std::uint32_t pid) : pid_(pid), session_(std::make_unique<Session>()) {
  // libdebuginfod would be asked otherwise: what is shown must not depend on a server.
  ::unsetenv("DEBUGINFOD_URLS");
}

Unwinder::~Unwinder() = default;

void Unwinder::map(const Mapping& mapping) {
  // What is mapped over something replaces it.
  std::erase_if(mappings_, [&](const Mapping& old) { return old.begin < mapping.end && mapping.begin < old.end; });
  mappings_.push_back(mapping);
  if (mapping.name.empty() || mapping.name[0] != '/') return;
  ::dwfl_report_begin_add(session_->dwfl);
  ::dwfl_report_elf(session_->dwfl, file_name(mapping.name).c_str(), mapping.name.c_str(), -1,
                    mapping.begin - mapping.file_offset, false);
  ::dwfl_report_end(session_->dwfl, nullptr, nullptr);
}

const Frame& Unwinder::name(std::uint64_t address) {
  const auto known = names_.find(address);
  if (known != names_.end()) return known->second;
  Frame frame{fmt::format("{:#x}", address), ""};
  const auto mapping = std::find_if(mappings_.begin(), mappings_.end(),
                                    [&](const Mapping& each) { return address >= each.begin && address < each.end; });
  if (mapping != mappings_.end()) {
    frame.module = file_name(mapping->name);
    frame.function = fmt::format("{:#x}", address - mapping->begin + mapping->file_offset);
  }
  Dwfl_Module* module = ::dwfl_addrmodule(session_->dwfl, address);
  const char* symbol = module != nullptr ? ::dwfl_module_addrname(module, address) : nullptr;
  if (symbol != nullptr) {
    frame.function = demangled(symbol);
  } else if (module != nullptr && mapping != mappings_.end()) {
    const std::string own = libc_function(mapping->name, code_start(module, address));
    if (!own.empty()) frame.function = own;
  }
  return names_.emplace(address, std::move(frame)).first->second;
}

Stack Unwinder::frames(const PerfEvent& sample) {
  if (!sample.has_user) return {};
  session_->sample = &sample;
  session_->addresses.clear();
  if (session_->attach(pid_))
    ::dwfl_getthread_frames(session_->dwfl, static_cast<pid_t>(pid_), Session::on_frame, session_.get());
  if (session_->addresses.empty()) session_->addresses.push_back(sample.registers[kProgramCounter]);
  Stack stack;
  const auto& addresses = session_->addresses;
  for (std::size_t i = addresses.size(); i-- > 0;) stack.push_back(name(addresses[i]));
  return stack;
}

}  // namespace zerotax
