#pragma once

namespace zerotax::recorder {

/// Prints one line on stderr, formatted as by printf, after "zerotax-recorder: ". Async-signal-safe as far as glibc's
/// vsnprintf of integers and strings is.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// Problems that may occur with every record: each is reported once per process.
enum class Trouble : unsigned { kBuffer = 1, kStream = 2, kMetadata = 4, kLarge = 8, kType = 16, kOther = 32 };

/// Whether this problem is to be reported now.
bool first_time(Trouble trouble);

/// Resets this: the next process or trace may report everything again.
void forget_troubles();

}  // namespace zerotax::recorder
