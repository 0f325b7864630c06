#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <vector>

#include "os/unique_fd.h"

/// Programs that the kernel runs at its tracepoints, and maps that these programs share with us (bpf(2), CAP_BPF and
/// CAP_PERFMON). Programs and maps end when their last descriptor is closed, even if this process is killed.
namespace zerotax::bpf {

/// Registers. r0 holds a result, r1 to r5 hold arguments, and calls preserve r6 to r9.
enum Register : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, stack };

using Code = std::vector<bpf_insn>;

/// Instructions as data. A jump skips `skip` instructions.
bpf_insn move(Register to, Register from);
bpf_insn set(Register to, std::int32_t value);
bpf_insn add(Register to, std::int32_t value);
bpf_insn add(Register to, Register from);
bpf_insn mask(Register to, std::int32_t bits);
bpf_insn shift_right(Register to, std::int32_t bits);
bpf_insn shift_left(Register to, Register bits);
/// `size` is BPF_W (4 bytes) or BPF_DW (8).
bpf_insn load(unsigned size, Register to, Register from, std::int16_t offset);
bpf_insn store(unsigned size, Register to, std::int16_t offset, Register from);
bpf_insn atomic_add(Register to, std::int16_t offset, Register from);
/// `condition` is BPF_JEQ, BPF_JNE or BPF_JSET.
bpf_insn jump_if(unsigned condition, Register left, std::int32_t right, std::int16_t skip);
bpf_insn jump(std::int16_t skip);
bpf_insn call(bpf_func_id function);
bpf_insn leave();
/// Loads the address of a map, by two instructions.
Code map_address(Register to, int map);

/// Joins parts of a program.
Code operator+(Code first, const Code& second);

/// Returns an empty descriptor if the kernel refuses the map, for example for lack of the capabilities.
UniqueFd make_map(bpf_map_type type, std::uint32_t value_bytes, std::uint32_t entries);
bool read_map(int map, std::uint32_t key, void* value);
bool write_map(int map, std::uint32_t key, const void* value);
/// Loads a program for a tracepoint. If the kernel refuses the program, errno has the reason.
UniqueFd load_program(bpf_prog_type type, const Code& code);
/// Runs a program of type BPF_PROG_TYPE_RAW_TRACEPOINT at each hit of the tracepoint, as long as the returned
/// descriptor is open.
UniqueFd attach_raw(const char* tracepoint, int program);
/// Runs a program of type BPF_PROG_TYPE_TRACEPOINT as attach_raw does. The program must return 1, because 0 would hide
/// the event from all perf events. `id` is TraceEvent::id.
UniqueFd attach(std::uint64_t id, int program);

}  // namespace zerotax::bpf
