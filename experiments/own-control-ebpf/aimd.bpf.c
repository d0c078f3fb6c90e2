// Additive increase, multiplicative decrease: Chiu and Jain, 1989.
// SPDX-License-Identifier: GPL-2.0
//
// The kernel lets only programs with a licence compatible with the GPL call its functions.

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

static __u32 half(__u32 cwnd)
{
	return cwnd / 2 > 2 ? cwnd / 2 : 2;
}

// No slow start: the window grows by a packet in every round trip from the first on.
SEC("struct_ops")
void BPF_PROG(aimd_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	tp->snd_ssthresh = 2;
}

SEC("struct_ops")
void BPF_PROG(aimd_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 count = tp->snd_cwnd_cnt + acked;

	if (!tp->is_cwnd_limited)
		return;
	if (count >= tp->snd_cwnd) {
		count -= tp->snd_cwnd;
		tp->snd_cwnd += 1;
	}
	tp->snd_cwnd_cnt = count;
}

SEC("struct_ops")
__u32 BPF_PROG(aimd_ssthresh, struct sock *sk)
{
	return half(((struct tcp_sock *)sk)->snd_cwnd);
}

SEC("struct_ops")
__u32 BPF_PROG(aimd_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops aimd = {
	.init		= (void *)aimd_init,
	.ssthresh	= (void *)aimd_ssthresh,
	.cong_avoid	= (void *)aimd_cong_avoid,
	.undo_cwnd	= (void *)aimd_undo_cwnd,
	.name		= "aimd",
};
