// Additive increase, multiplicative decrease: Chiu and Jain, 1989.
// SPDX-License-Identifier: GPL-2.0
//
// The kernel's functions for controls are open to modules with a licence compatible with the GPL.

#include <linux/module.h>
#include <net/tcp.h>

// No slow start: the window grows by a packet in every round trip from the first on.
static void aimd_init(struct sock *sk)
{
	tcp_sk(sk)->snd_ssthresh = 2;
}

static void aimd_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (tcp_is_cwnd_limited(sk))
		tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static u32 aimd_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) / 2, 2U);
}

static struct tcp_congestion_ops aimd = {
	.init		= aimd_init,
	.ssthresh	= aimd_ssthresh,
	.cong_avoid	= aimd_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.name		= "aimd",
	.owner		= THIS_MODULE,
};

static int __init aimd_register(void)
{
	return tcp_register_congestion_control(&aimd);
}

static void __exit aimd_unregister(void)
{
	tcp_unregister_congestion_control(&aimd);
}

module_init(aimd_register);
module_exit(aimd_unregister);
MODULE_DESCRIPTION("Additive increase, multiplicative decrease");
MODULE_LICENSE("GPL");
