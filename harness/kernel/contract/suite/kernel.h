// The one way to the kernel, so that a test of the suite can put lies in it.
#pragma once

long kernel(long number, long a, long b, long c, long d, long e, long f);

#ifdef ZEROTAX_CONTRACT_LIES
// What the kernel would do, and what happens around a fork.
long lying_kernel(long number, long a, long b, long c, long d, long e, long f);
int choose_lie(const char* name);  // 0 if there is none of that name
void list_lies(void);
void lie_at_start(void);
void lie_before_fork(void);
void lie_in_child(void);
#endif
