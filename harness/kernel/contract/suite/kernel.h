// The suite makes its system calls through kernel(). Tests of the suite replace it with lying_kernel().
#pragma once

long kernel(long number, long a, long b, long c, long d, long e, long f);

#ifdef ZEROTAX_CONTRACT_LIES
// Answers the call with the chosen lie, or makes the real call if no lie is chosen. The functions below choose the lie,
// and prepare it at the start and around a fork.
long lying_kernel(long number, long a, long b, long c, long d, long e, long f);
int choose_lie(const char* name);  // returns 0 if there is no lie of that name
void list_lies(void);
void lie_at_start(void);
void lie_before_fork(void);
void lie_in_child(void);
#endif
