#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/answer.h"
#include "record/result.h"

namespace zerotax::record {

/// Returns the default text, which fits one screen.
Answer answer(const Record& record);

/// Returns the text of --full and --text, in 80 columns. The headline comes first.
std::string record_text(const Record& record);

/// Returns the first sentence of answer() and record_text(): what zeroing costs the program.
std::string headline(const Record& record);

/// Returns a sentence about the rates of a recording from outside, or an empty string if the recording has no rates.
std::string rates_words(const Record& record);

/// Returns how a program that zerotax started has ended, as in "python3 exited with 0".
std::string end_words(const Record& record);

/// Returns sentences about gaps in the record of a program that zerotax's library recorded. The sentences name at most
/// `most_not_followed` of the programs from which nothing was recorded, and count the other such programs.
std::vector<std::string> warnings(const Record& record, std::size_t most_not_followed = SIZE_MAX);

/// Returns the zerotax advise command that tries remedies, ready to paste. Empty if zeroing costs too little, or
/// zerotax advise cannot start the program.
std::string next_step(const Record& record);

}  // namespace zerotax::record
