#include "observe/unwinder.h"

#include <dwarf.h>
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
constexpr std::size_t kMostCandidates = 32;
constexpr int kSourceIndex = 4;
constexpr int kFramePointer = 6;
constexpr int kStackPointer = 7;
constexpr int kProgramCounter = 16;

char* debug_path = nullptr;  // elfutils' own: beside the file, in .debug, under /usr/lib/debug

struct CodeStart {
  std::uint64_t in_file = 0;  ///< in the file's own numbering
  std::uint64_t in_memory = 0;
};

/// Where the code that an address lies in begins: the start of its row of call frame information, which for a function
/// that keeps nothing on the stack is its own. 0 if there is none.
CodeStart code_start(Dwfl_Module* module, std::uint64_t address) {
  Dwarf_Addr bias = 0;
  Dwarf_CFI* information = ::dwfl_module_eh_cfi(module, &bias);
  Dwarf_Frame* frame = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address - bias, &frame) != 0) return {};
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  const int known = ::dwarf_frame_info(frame, &start, &end, nullptr);
  std::free(frame);
  if (known < 0) return {};
  return {start, start + bias};
}

/// How the frame at an address is found, by its call frame information.
struct FrameRule {
  bool by_frame_pointer = false;
  bool outermost = false;  ///< there is no address that it returns to
};

FrameRule frame_rule(Dwfl_Module* module, std::uint64_t address) {
  FrameRule rule;
  Dwarf_Addr bias = 0;
  Dwarf_CFI* information = module != nullptr ? ::dwfl_module_eh_cfi(module, &bias) : nullptr;
  Dwarf_Frame* frame = nullptr;
  if (information == nullptr || ::dwarf_cfi_addrframe(information, address - bias, &frame) != 0) return rule;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_cfa(frame, &operations, &count) == 0 && count > 0) {
    rule.by_frame_pointer = operations[0].atom == DW_OP_breg0 + kFramePointer ||
                            (operations[0].atom == DW_OP_bregx && operations[0].number == kFramePointer);
  }
  Dwarf_Op buffer[3];
  rule.outermost = ::dwarf_frame_register(frame, kProgramCounter, &buffer[0], &operations, &count) == 0 && count == 0 &&
                   operations != nullptr;
  std::free(frame);
  return rule;
}

/// The instruction before an address that a function may return to.
enum class Call { kNone, kOfFunction, kByRegister };

/// `function`: where it begins.
Call call_before(std::uint64_t address, std::uint64_t function, const Unwinder::ReadMemory& read) {
  unsigned char code[7];
  if (address < sizeof code || !read(address - sizeof code, &code[0], sizeof code)) return Call::kNone;
  const auto displaced = [](std::uint64_t from, const unsigned char* by) {
    std::int32_t distance = 0;
    std::memcpy(&distance, by, sizeof distance);
    return from + static_cast<std::uint64_t>(std::int64_t{distance});
  };
  const auto leads_there = [&](std::uint64_t slot) {
    std::uint64_t target = 0;
    return function != 0 && read(slot, &target, sizeof target) && target == function;
  };
  if (code[2] == 0xe8) {  // call near, relative
    const std::uint64_t target = displaced(address, &code[3]);
    if (target == function && function != 0) return Call::kOfFunction;
    // A stub of the procedure linkage table: endbr64, then jmp *slot(%rip).
    unsigned char stub[11];
    if (!read(target, &stub[0], sizeof stub)) return Call::kNone;
    static constexpr unsigned char kEndbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    std::size_t i = std::memcmp(&stub[0], &kEndbr[0], sizeof kEndbr) == 0 ? sizeof kEndbr : 0;
    if (stub[i] == 0xf2) ++i;  // bnd
    if (i + 6 > sizeof stub || stub[i] != 0xff || stub[i + 1] != 0x25) return Call::kNone;
    return leads_there(displaced(target + i + 6, &stub[i + 2])) ? Call::kOfFunction : Call::kNone;
  }
  if (code[1] == 0xff && code[2] == 0x15) {  // call *slot(%rip)
    return leads_there(displaced(address, &code[3])) ? Call::kOfFunction : Call::kNone;
  }
  // call *register, or *(register): FF /2, with or without a displacement of a byte.
  const auto is_call = [](unsigned char opcode, unsigned char operand) {
    return opcode == 0xff && (operand & 0x38) == 0x10;
  };
  return is_call(code[5], code[6]) || is_call(code[4], code[5]) ? Call::kByRegister : Call::kNone;
}

int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

constexpr Dwfl_Callbacks kCallbacks = {no_elf, dwfl_standard_find_debuginfo, nullptr, &debug_path};

}  // namespace

struct Unwinder::Session {
  Dwfl* dwfl = nullptr;
  bool attached = false;
  const PerfEvent* sample = nullptr;     ///< that is being unwound
  std::uint64_t frame_pointer = 0;       ///< of a sample with few registers; 0: not known
  std::vector<std::uint64_t> addresses;  ///< innermost first
  std::vector<bool> exact;               ///< not one less than a return address

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
    if (sample.few_registers) {
      const std::uint64_t frame_pointer = static_cast<Session*>(argument)->frame_pointer;
      if (frame_pointer != 0) ::dwfl_thread_state_registers(thread, kFramePointer, 1, &frame_pointer);
      return ::dwfl_thread_state_registers(thread, kStackPointer, 1, &sample.registers[kStackPointer]);
    }
    return ::dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(sample.registers.size()),
                                         sample.registers.data());
  }

  static int on_frame(Dwfl_Frame* frame, void* argument) {
    auto& addresses = static_cast<Session*>(argument)->addresses;
    auto& exacts = static_cast<Session*>(argument)->exact;
    Dwarf_Addr address = 0;
    bool exact = false;
    if (!::dwfl_frame_pc(frame, &address, &exact)) return DWARF_CB_ABORT;
    // A return address may be that of the next function: the call is before it.
    addresses.push_back(exact ? address : address - 1);
    exacts.push_back(exact);
    return addresses.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
};

Unwinder::Unwinder(std::uint32_t pid) : pid_(pid) {}

Unwinder::~Unwinder() = default;

void Unwinder::map(const Mapping& mapping) {
  // What is mapped over something replaces it.
  std::erase_if(mappings_, [&](const Mapping& old) { return old.begin < mapping.end && mapping.begin < old.end; });
  mappings_.push_back(mapping);
  names_.clear();
  hidden_calls_.forget();
  files_.clear();
  for (const Mapping& each : mappings_) files_.push_back(each.begin);
  ++changes_;
  if (!mapping.name.empty() && mapping.name[0] == '/') new_files_.push_back(mapping);
}

Unwinder::Session& Unwinder::session() {
  if (!session_) {
    // libdebuginfod would be asked otherwise: what is shown must not depend on a server.
    ::unsetenv("DEBUGINFOD_URLS");
    session_ = std::make_unique<Session>();
  }
  if (!new_files_.empty()) {
    ::dwfl_report_begin_add(session_->dwfl);
    for (const Mapping& file : new_files_) {
      // What is reported again is taken for another file at the same place, and both are dropped.
      if (!reported_.emplace(file.name, file.begin - file.file_offset).second) continue;
      ::dwfl_report_elf(session_->dwfl, file_name(file.name).c_str(), file.name.c_str(), -1,
                        file.begin - file.file_offset, false);
    }
    ::dwfl_report_end(session_->dwfl, nullptr, nullptr);
    new_files_.clear();
  }
  return *session_;
}

const Unwinder::Mapping* Unwinder::mapping_of(std::uint64_t address) const {
  const auto found = std::find_if(mappings_.begin(), mappings_.end(),
                                  [&](const Mapping& each) { return address >= each.begin && address < each.end; });
  return found != mappings_.end() ? &*found : nullptr;
}

const Frame& Unwinder::name(std::uint64_t address) {
  const auto known = names_.find(address);
  if (known != names_.end()) return known->second;
  Frame frame{fmt::format("{:#x}", address), "", address, 0};
  const Mapping* mapping = mapping_of(address);
  if (mapping != nullptr) {
    frame.module = file_name(mapping->name);
    frame.function = fmt::format("{:#x}", address - mapping->begin + mapping->file_offset);
  }
  Dwfl_Module* module = ::dwfl_addrmodule(session().dwfl, address);
  GElf_Off offset = 0;
  GElf_Sym symbol_entry{};
  const char* symbol = module != nullptr
                           ? ::dwfl_module_addrinfo(module, address, &offset, &symbol_entry, nullptr, nullptr, nullptr)
                           : nullptr;
  if (symbol != nullptr) {
    frame.function = demangled(symbol);
    frame.offset = offset;
  } else if (module != nullptr && mapping != nullptr) {
    const CodeStart start = code_start(module, address);
    const std::string own = libc_function(mapping->name, start.in_file);
    if (!own.empty()) {
      frame.function = own;
      frame.offset = address - start.in_memory;
    }
  }
  return names_.emplace(address, std::move(frame)).first->second;
}

std::uint64_t Unwinder::function_start(std::uint64_t address) {
  const Frame& frame = name(address);
  if (frame.offset != 0) return address - frame.offset;
  Dwfl_Module* module = ::dwfl_addrmodule(session().dwfl, address);
  return module != nullptr ? code_start(module, address).in_memory : 0;
}

void Unwinder::unwind(Session& session, std::uint64_t frame_pointer) {
  session.addresses.clear();
  session.exact.clear();
  session.frame_pointer = frame_pointer;
  if (session.attach(pid_))
    ::dwfl_getthread_frames(session.dwfl, static_cast<pid_t>(pid_), Session::on_frame, &session);
}

Stack Unwinder::frames(const PerfEvent& sample, const ReadMemory& read) {
  if (!sample.has_user) return {};
  Session& session = this->session();
  session.sample = &sample;
  unwind(session, 0);
  if (sample.few_registers && read) find_frame_pointer(session, read);
  if (session.addresses.empty()) {
    session.addresses.push_back(sample.registers[kProgramCounter]);
    session.exact.push_back(true);
  }
  Stack stack;
  const HiddenCalls::Target* called = nullptr;  ///< by the frame before
  for (std::size_t i = session.addresses.size(); i-- > 0;) {
    Frame frame = name(session.addresses[i]);
    if (!session.exact[i]) {
      ++frame.address;
      frame.offset += frame.offset != 0 ? 1 : 0;
    }
    if (called != nullptr && called->address == function_start(session.addresses[i])) {
      frame.function = called->name;  // of its names, the one that it was called by
    } else if (called != nullptr) {
      stack.push_back({called->name, called->module});
    }
    called = session.exact[i] ? nullptr : hidden_calls_.called_before(session.dwfl, frame.address, files_);
    stack.push_back(std::move(frame));
  }
  return stack;
}

/// Code whose frame is found by the frame pointer alone, above code that does not keep it on the stack: the register is
/// where it was, and points to a pair of words, the caller's frame pointer and the address that the function returns
/// to. That address is behind a call, of this very function; or the call is by a register, and then what is found must
/// lead to the end of the stack.
void Unwinder::find_frame_pointer(Session& session, const ReadMemory& read) {
  const auto rule = [&] {
    const std::uint64_t outermost = session.addresses.empty() ? 0 : session.addresses.back();
    return frame_rule(::dwfl_addrmodule(session.dwfl, outermost), outermost);
  };
  if (session.addresses.empty() || !rule().by_frame_pointer) return;
  const std::vector<std::uint64_t> addresses = session.addresses;
  const std::vector<bool> exact = session.exact;
  const std::uint64_t start = function_start(addresses.back());
  const std::uint64_t stack_pointer = session.sample->registers[kStackPointer];
  const auto& stack = session.sample->stack;
  std::vector<std::uint64_t> by_register;
  for (std::size_t at = 0; at + 16 <= stack.size(); at += 8) {
    std::uint64_t back = 0;
    std::memcpy(&back, stack.data() + at + 8, sizeof back);
    if (mapping_of(back) == nullptr) continue;
    switch (call_before(back, start, read)) {
      case Call::kNone:
        break;
      case Call::kByRegister:
        if (by_register.size() < kMostCandidates) by_register.push_back(stack_pointer + at);
        break;
      case Call::kOfFunction:
        unwind(session, stack_pointer + at);
        if (session.addresses.size() > addresses.size()) return;
        break;
    }
  }
  for (const std::uint64_t candidate : by_register) {
    unwind(session, candidate);
    if (session.addresses.size() > addresses.size() && rule().outermost) return;
  }
  session.addresses = addresses;
  session.exact = exact;
}

Fill Unwinder::fill(const PerfEvent& sample) {
  if (!sample.has_user || sample.few_registers) return Fill::kNone;
  const std::uint64_t address = sample.registers[kProgramCounter];
  const Frame& frame = name(address);
  if (frame.function.find("bzero") != std::string::npos) return Fill::kZeros;
  if (frame.function.find("memset") == std::string::npos) return Fill::kNone;
  const Mapping* mapping = mapping_of(address);
  Dwfl_Module* module = ::dwfl_addrmodule(session().dwfl, address);
  if (mapping == nullptr || module == nullptr) return Fill::kUnknown;
  const bool ours = !libc_function(mapping->name, code_start(module, address).in_file).empty();
  return ours && memset_keeps_its_value() ? fill_of_register(sample.registers[kSourceIndex]) : Fill::kUnknown;
}

}  // namespace zerotax
