#pragma once

namespace zerotax::recorder {

/// Prints one line on stderr, formatted as by printf, after "zerotax-recorder: ". Async-signal-safe as far as glibc's
/// vsnprintf of integers and strings is.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// Keeps all that this thread says from now on in `text` (the latest line, without the name and the line's end) instead
/// of printing it; nullptr: prints again. One thread at a time.
void say_into(char* text, unsigned long room);

/// Problems that may occur with every record: each is reported once per process.
enum class Trouble : unsigned { kBuffer = 1, kStream = 2, kMetadata = 4, kLarge = 8, kType = 16, kOther = 32 };

/// Whether to report this problem now.
bool first_time(Trouble trouble);

/// Resets this: the next process or trace may report everything again.
void forget_troubles();

}  // namespace zerotax::recorder
