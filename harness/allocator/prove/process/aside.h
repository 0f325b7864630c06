#pragma once

/* Findings of functions other than the standard functions. A finding of another function does not end the search,
 * because a mistake in calloc is more important. Later episodes do not call the function, and the end of the search
 * reports the first finding. */

#include "prove/process/slot.h"

/* Keeps the slot's finding if the finding's function is not a standard function. Returns whether the finding is
 * kept. */
int keep_aside(const struct slot* slot, const char* record);
/* Enters in a head the functions with a kept finding, so that no further episode calls the functions. */
void leave_kept_out(struct head* of);
/* Replaces the record by the first kept record, and returns the kept record's head. Returns NULL without a kept
 * record. */
const struct head* take_aside(const char* record);
