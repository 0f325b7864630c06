#pragma once

namespace zerotax::recorder {

/// Prints one line on stderr, formatted as by printf, after "zerotax-recorder: ". This function is as async-signal-safe
/// as glibc's vsnprintf of integers and strings.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// From now on, stores messages of this thread in `text` instead of printing them. Only the latest line is kept,
/// without the recorder's name and the line end. With nullptr, messages are printed again. Only one thread may use this
/// function at a time.
void say_into(char* text, unsigned long room);

/// Problems that may occur with every record. Each problem is reported once per process.
enum class Trouble : unsigned { kBuffer = 1, kStream = 2, kMetadata = 4, kLarge = 8, kType = 16, kOther = 32 };

/// Whether to report this problem now.
bool first_time(Trouble trouble);

/// Resets first_time(), so that the next process or trace may report everything again.
void forget_troubles();

}  // namespace zerotax::recorder
