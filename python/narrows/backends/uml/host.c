/* What a guest gets from its host other than as the host would give it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/uio.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

/* getrandom() from a seed, so that a guest boots the same way each time. */

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

/* Vector registers for a host that has more of them than the guest knows.
 *
 * User-Mode Linux of 6.12 keeps 2,696 bytes of them (HOST_FP_SIZE in
 * arch/x86/um/user-offsets.c), which is all up to AVX-512. A processor with AMX has
 * 11,008, and PTRACE_SETREGSET takes all or nothing (xstateregs_set() in
 * arch/x86/kernel/fpu/regset.c), so the first program of a guest would be killed. Here
 * the rest is added. It is zero and unused: a program has to ask for AMX, and a guest
 * can't pass that on. */

static unsigned char registers[1 << 16];

typedef long (*Ptrace)(enum __ptrace_request, pid_t, void *, void *);

/* How many bytes the host has; 0 if it doesn't say. */
static size_t registers_of_host(Ptrace next, pid_t pid)
{
	static size_t size;
	if (size == 0) {
		static unsigned char read[sizeof(registers)];
		struct iovec all = { read, sizeof(read) };
		if (next(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all) == 0)
			size = all.iov_len;
	}
	return size;
}

static long set_registers(Ptrace next, pid_t pid, const struct iovec *from_guest)
{
	struct iovec all = *from_guest;
	size_t size = registers_of_host(next, pid);
	if (size > all.iov_len) {
		memcpy(registers, all.iov_base, all.iov_len);
		all = (struct iovec){ registers, size };
	}
	return next(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	static Ptrace next;
	va_list rest;
	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *address = va_arg(rest, void *);
	void *data = va_arg(rest, void *);
	va_end(rest);

	if (next == NULL)
		next = (Ptrace)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_SETREGSET && (uintptr_t)address == NT_X86_XSTATE)
		return set_registers(next, pid, data);
	return next(request, pid, address, data);
}
