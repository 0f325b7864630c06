#pragma once

namespace zerotax::recorder {

/// One line on stderr, as of printf, behind "zerotax-recorder: ". Async-signal-safe as far as glibc's vsnprintf of
/// integers and strings is.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

/// Troubles that may come with every record: each is said once in a process.
enum class Trouble : unsigned { kBuffer = 1, kStream = 2, kMetadata = 4, kLarge = 8, kType = 16, kOther = 32 };

/// Whether this trouble is to be said now.
bool first_time(Trouble trouble);

/// As before a program: the next process or trace may say everything again.
void forget_troubles();

}  // namespace zerotax::recorder
