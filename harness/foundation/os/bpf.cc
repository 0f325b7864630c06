#include "os/bpf.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "os/perf_event.h"

namespace zerotax::bpf {
namespace {

bpf_insn instruction(unsigned code, Register to, Register from, std::int16_t offset, std::int32_t value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = static_cast<std::uint8_t>(to & 0xf);
  made.src_reg = static_cast<std::uint8_t>(from & 0xf);
  made.off = offset;
  made.imm = value;
  return made;
}

int call_kernel(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

std::uint64_t address(const void* of) { return reinterpret_cast<std::uintptr_t>(of); }

}  // namespace

// Some parts of an instruction are 0, so clang-tidy reports the expressions that combine parts as redundant.
// NOLINTBEGIN(misc-redundant-expression)
bpf_insn move(Register to, Register from) { return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
bpf_insn set(Register to, std::int32_t value) { return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, r0, 0, value); }
bpf_insn add(Register to, std::int32_t value) { return instruction(BPF_ALU64 | BPF_ADD | BPF_K, to, r0, 0, value); }
bpf_insn add(Register to, Register from) { return instruction(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0); }
bpf_insn mask(Register to, std::int32_t bits) { return instruction(BPF_ALU64 | BPF_AND | BPF_K, to, r0, 0, bits); }
bpf_insn shift_right(Register to, std::int32_t bits) {
  return instruction(BPF_ALU64 | BPF_RSH | BPF_K, to, r0, 0, bits);
}

bpf_insn shift_left(Register to, Register bits) { return instruction(BPF_ALU64 | BPF_LSH | BPF_X, to, bits, 0, 0); }

bpf_insn load(unsigned size, Register to, Register from, std::int16_t offset) {
  return instruction(BPF_LDX | size | BPF_MEM, to, from, offset, 0);
}

bpf_insn store(unsigned size, Register to, std::int16_t offset, Register from) {
  return instruction(BPF_STX | size | BPF_MEM, to, from, offset, 0);
}

bpf_insn atomic_add(Register to, std::int16_t offset, Register from) {
  return instruction(BPF_STX | BPF_DW | BPF_XADD, to, from, offset, 0);
}

bpf_insn jump_if(unsigned condition, Register left, std::int32_t right, std::int16_t skip) {
  return instruction(BPF_JMP | condition | BPF_K, left, r0, skip, right);
}

bpf_insn jump(std::int16_t skip) { return instruction(BPF_JMP | BPF_JA, r0, r0, skip, 0); }
bpf_insn call(bpf_func_id function) { return instruction(BPF_JMP | BPF_CALL, r0, r0, 0, function); }
bpf_insn leave() { return instruction(BPF_JMP | BPF_EXIT, r0, r0, 0, 0); }

Code map_address(Register to, int map) {
  return {instruction(BPF_LD | BPF_DW | BPF_IMM, to, static_cast<Register>(BPF_PSEUDO_MAP_FD), 0, map), bpf_insn{}};
}
// NOLINTEND(misc-redundant-expression)

Code operator+(Code first, const Code& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

UniqueFd make_map(bpf_map_type type, std::uint32_t value_bytes, std::uint32_t entries) {
  bpf_attr attributes{};
  attributes.map_type = type;
  attributes.key_size = sizeof(std::uint32_t);
  attributes.value_size = value_bytes;
  attributes.max_entries = entries;
  return UniqueFd(call_kernel(BPF_MAP_CREATE, attributes));
}

bool read_map(int map, std::uint32_t key, void* value) {
  bpf_attr attributes{};
  attributes.map_fd = static_cast<std::uint32_t>(map);
  attributes.key = address(&key);
  attributes.value = address(value);
  return call_kernel(BPF_MAP_LOOKUP_ELEM, attributes) == 0;
}

bool write_map(int map, std::uint32_t key, const void* value) {
  bpf_attr attributes{};
  attributes.map_fd = static_cast<std::uint32_t>(map);
  attributes.key = address(&key);
  attributes.value = address(value);
  return call_kernel(BPF_MAP_UPDATE_ELEM, attributes) == 0;
}

UniqueFd load_program(bpf_prog_type type, const Code& code) {
  bpf_attr attributes{};
  attributes.prog_type = type;
  attributes.insn_cnt = static_cast<std::uint32_t>(code.size());
  attributes.insns = address(code.data());
  attributes.license = address("Dual MIT/GPL");
  return UniqueFd(call_kernel(BPF_PROG_LOAD, attributes));
}

UniqueFd attach_raw(const char* tracepoint, int program) {
  bpf_attr attributes{};
  attributes.raw_tracepoint.name = address(tracepoint);
  attributes.raw_tracepoint.prog_fd = static_cast<std::uint32_t>(program);
  return UniqueFd(call_kernel(BPF_RAW_TRACEPOINT_OPEN, attributes));
}

/// The program runs on every CPU, although its perf event belongs to one CPU.
UniqueFd attach(std::uint64_t id, int program) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = id;
  UniqueFd event = open_perf_event(attributes, -1, std::max(0, ::sched_getcpu()));
  if (event && ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) == 0) return event;
  return {};
}

}  // namespace zerotax::bpf
