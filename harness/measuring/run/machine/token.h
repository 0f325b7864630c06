#pragma once

// The token with which zerotax-guest-init recognizes a machine that zerotax booted. The token is on the kernel's
// command line, and in the file /token of the archive. This header is C, because guest_init.c includes it.

#define kTokenOption "zerotax.token="
enum { kTokenDigits = 32, kTokenOptionBytes = sizeof kTokenOption + kTokenDigits };
