#pragma once

#include <cstdint>

#include "snapshot/process/control.h"
#include "snapshot/process/course.h"
#include "snapshot/process/cpu_sampler.h"
#include "snapshot/process/helper.h"
#include "snapshot/process/memory_sampler.h"
#include "snapshot/process/placement.h"
#include "snapshot/process/verify.h"
#include "snapshot/process/writers.h"

namespace snapshot {

// What the program found, as lines KEY=NUMBER on standard output. cases/fork_snapshot/README.md says what each is.

void print(const char* key, std::int64_t number);
void print(const char* key, std::uint64_t number);
void print_course(const Course& course);
void print_writers(const Writers& writers);
void print_helper(const Helper& helper);
void print_memory(const MemorySampler& sampler);
/// A line for each sample: its time, user and system time of this process, and the child's.
void print_cpu(const CpuSampler& sampler);
/// `what`: "array".
void print_nodes(const char* what, const PageNodes& nodes);
void print_verdict(const Verdict& verdict);
/// What the child found, where only the child can see the snapshot, and looked at it.
void print_verdict_of_child(const Control& control);
void print_child(const Control& control);

}  // namespace snapshot
