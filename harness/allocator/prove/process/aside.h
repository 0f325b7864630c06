#pragma once

/* Findings of functions that are no standard functions. Such a finding does not end the search, because a mistake in
 * calloc is more important. The function is left out, and the first such finding is reported at the end. */

#include "prove/process/slot.h"

/* Keeps the finding of the slot if its function is no standard function, and returns whether it is kept. */
int keep_aside(const struct slot* slot, const char* record);
/* Enters in a head the functions that are kept aside, so that no further episode calls them. */
void leave_kept_out(struct head* of);
/* Puts the first kept record in the place of the record, and returns its head; NULL if there is none. */
const struct head* take_aside(const char* record);
