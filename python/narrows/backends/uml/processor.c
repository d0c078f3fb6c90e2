/* What the programs of a guest find out about the processor, the same in each run.
 *
 * A guest's programs run on the host's processor, so they can read its counter (rdtsc) and its
 * random numbers (rdrand, rdseed), and which of its cores they are on (cpuid, rdpid), without asking
 * any kernel. Here Linux lets the first two of these instructions trap (PR_SET_TSC in prctl(2),
 * ARCH_SET_CPUID in arch_prctl(2)), and what they give is made up: the counter is the guest's clock
 * in ns, and cpuid names a processor without random numbers. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <elf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif
#ifndef PTRACE_SYSEMU
#define PTRACE_SYSEMU 31
#endif

typedef long (*Ptrace)(enum __ptrace_request, pid_t, void *, void *);

static Ptrace next_ptrace(void)
{
	static Ptrace next;
	if (next == NULL)
		next = (Ptrace)dlsym(RTLD_NEXT, "ptrace");
	return next;
}

/* Every process of the guest asks its kernel to trace it before it runs anything else. A
 * processor that can't trap cpuid shows all that it has. */
long ptrace(enum __ptrace_request request, ...)
{
	va_list rest;
	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *address = va_arg(rest, void *);
	void *data = va_arg(rest, void *);
	va_end(rest);

	if (request == PTRACE_TRACEME) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
	}
	return next_ptrace()(request, pid, address, data);
}

/* The guest's clock: `time_travel_time` of arch/um/kernel/time.c, a static variable. */

static const volatile uint64_t *find_clock(void)
{
	struct stat status;
	const volatile uint64_t *found = NULL;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return NULL;
	const char *file = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return NULL;
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + head->e_shoff);
	for (int i = 0; head->e_type == ET_EXEC && i < head->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
		const char *names = file + sections[sections[i].sh_link].sh_offset;
		for (size_t n = 0; n < sections[i].sh_size / sizeof(*symbols); n++)
			if (!strcmp(names + symbols[n].st_name, "time_travel_time"))
				found = (const volatile uint64_t *)symbols[n].st_value;
	}
	munmap((void *)file, status.st_size);
	return found;
}

/* It grows with each look, as a program may wait for that. */
static uint64_t counter(void)
{
	static const volatile uint64_t *clock;
	static int ready;
	static uint64_t last;
	if (!ready) {
		clock = find_clock();
		ready = 1;
	}
	last += 256;
	if (clock != NULL && *clock > last)
		last = *clock;
	return last;
}

static void identify(struct user_regs_struct *regs)
{
	uint32_t leaf = regs->rax, part = regs->rcx, eax, ebx, ecx, edx;
	__cpuid_count(leaf, part, eax, ebx, ecx, edx);
	if (leaf == 1) {
		ebx &= 0x00ffffff; /* the core's number */
		ecx &= ~(1u << 30); /* rdrand */
	} else if (leaf == 7 && part == 0) {
		ebx &= ~(1u << 18); /* rdseed */
		ecx &= ~(1u << 22); /* rdpid */
	} else if (leaf == 0xb || leaf == 0x1f) {
		edx = 0; /* the core's number */
	}
	regs->rax = eax;
	regs->rbx = ebx;
	regs->rcx = ecx;
	regs->rdx = edx;
}

/* Carries out an instruction that trapped; 0 if it is another one. */
static int carry_out(pid_t pid)
{
	Ptrace call = next_ptrace();
	struct user_regs_struct regs;
	unsigned char code[sizeof(long)];
	siginfo_t info;
	long word;

	if (call(PTRACE_GETSIGINFO, pid, NULL, &info) || info.si_code != SI_KERNEL)
		return 0; /* a page is missing */
	if (call(PTRACE_GETREGS, pid, NULL, &regs))
		return 0;
	/* The function of the C library returns the word, this one as well. */
	errno = 0;
	word = call(PTRACE_PEEKTEXT, pid, (void *)regs.rip, NULL);
	if (errno)
		return 0;
	memcpy(code, &word, sizeof(code));
	if (code[0] == 0x0f && code[1] == 0xa2) {
		identify(&regs);
		regs.rip += 2;
	} else if (code[0] == 0x0f && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xf9))) {
		uint64_t now = counter();
		regs.rax = (uint32_t)now;
		regs.rdx = now >> 32;
		if (code[1] == 0x01)
			regs.rcx = 0; /* rdtscp tells the core's number, too */
		regs.rip += code[1] == 0x01 ? 3 : 2;
	} else {
		return 0;
	}
	return call(PTRACE_SETREGS, pid, NULL, &regs) == 0;
}

/* The guest's kernel waits for its processes here, and never sees these traps. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	static pid_t (*real)(pid_t, int *, int);
	pid_t found;

	if (real == NULL)
		real = (pid_t(*)(pid_t, int *, int))dlsym(RTLD_NEXT, "waitpid");
	do
		found = real(pid, status, options);
	while (found > 0 && status != NULL && WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGSEGV &&
	       carry_out(found) && next_ptrace()(PTRACE_SYSEMU, found, NULL, NULL) == 0);
	return found;
}
