/* Declares what our headers use of <string.h>. Used to compute layouts for targets whose C library
 * is not installed. */

#ifndef TENON_FREESTANDING_STRING_H_
#define TENON_FREESTANDING_STRING_H_

#include <stddef.h>

void* memcpy(void* to, const void* from, size_t size);
void* memset(void* to, int byte, size_t size);
size_t strlen(const char* text);

#endif /* TENON_FREESTANDING_STRING_H_ */
