#pragma once

#include <string>
#include <vector>

#include "prove/process/record.h"

namespace zerotax::prove {

/// An operation of a record, as the process writes it.
using Op = op;
using Ops = std::vector<Op>;

/// A record of zerotax-prove-calls: its head, with settings and counters, and its operations.
struct RecordFile {
  head counters{};
  Ops ops;
};

/// Reads only the head, while the process may be running. Throws UsageError if the file is not a record.
head read_head(const std::string& path);

/// Reads a record. Throws UsageError if the file is not a record, or is shorter than its number of operations.
RecordFile read_record(const std::string& path);

/// Writes a record that replays, without a finding. Throws MachineError if the file cannot be written.
void write_record(const std::string& path, const head& counters, const Ops& ops);

}  // namespace zerotax::prove
