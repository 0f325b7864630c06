#pragma once

// The token by which zerotax-guest-init knows a machine that zerotax booted: on the kernel's command line, and in the
// file /token of the archive. In C, for guest_init.c.

#define kTokenOption "zerotax.token="
enum { kTokenDigits = 32, kTokenOptionBytes = sizeof kTokenOption + kTokenDigits };
