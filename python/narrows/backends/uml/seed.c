/* getrandom() from a seed, so that a guest boots the same way each time. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t state;
static int ready;

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *out = buffer;
	(void)flags;
	if (!ready) {
		const char *seed = getenv("NARROWS_SEED");
		state = seed ? strtoull(seed, 0, 10) : 0;
		ready = 1;
	}
	for (size_t i = 0; i < length; i++) {
		/* SplitMix64, Steele, Lea and Flood 2014. */
		uint64_t z = (state += 0x9e3779b97f4a7c15ull);
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		out[i] = (z ^ (z >> 31)) >> 32;
	}
	return (ssize_t)length;
}
