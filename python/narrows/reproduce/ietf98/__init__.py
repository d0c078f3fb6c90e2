"""The slides on BBR at IETF 98 (Cardwell et al., March 2017)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Document, Exhibit
from narrows.reproduce.ietf98.improvements import IMPROVEMENTS

PROFILE = "linux-4.9"
SLIDES = "the slides on BBR at IETF 98 (Cardwell et al., March 2017)"
CHOICES = (
    "The hosts run Linux 4.9, the first with BBR and the newest long-term kernel when the slides "
    "were shown; its BBR paces only through fq, so fq paces CUBIC and Reno too. Buffers are "
    "drop-tail and counted in bytes. Every packet of a sender waits up to 20 microseconds, in "
    "order, the noise of a host. "
)
ORDERS = (
    "Which flow starts first isn't said: all together, and each class 1 or 3 s before the other."
)
LATER = ("linux-6.12",)

DOCUMENT = Document("ietf98", SLIDES, PROFILE, CHOICES)
_exhibit = DOCUMENT.exhibit


EXHIBITS: tuple[Exhibit, ...] = (
    _exhibit("loss-arithmetic", "What random loss allows CUBIC",
             "Slide 'Problems with loss-based congestion control'"),
    _exhibit("loss-sweep", "Throughput by random loss",
             "Backup slide 'fully use bandwidth, despite high packet loss'", also=LATER,
             choices="The buffer, which isn't said, is 1 BDP; a flow lasts a minute, as "
             "in the BBR paper."),
    _exhibit("bufferbloat", "Queueing delay in bloated buffers",
             "Backup slide 'low queue delay, despite bloated buffers'", also=LATER,
             choices="The flows start 0.1 s apart and settle for 15 minutes; their median RTT is "
             "shown, as in the figure of the BBR paper."),
    _exhibit("convergence", "Shares and probes of BBR flows over time",
             "Backup slide 'BBR multi-flow convergence dynamics'", also=LATER,
             choices="Flows join every 2 s, two as in the slide's text and five as in its picture; "
             "the buffer is 8 BDP."),
    _exhibit("startup", "BBR and CUBIC start up",
             "Slides 'Faster for short flows, too' and 'Start-up behavior'", also=LATER,
             choices="The path is that of Figures 4 and 5 of the BBR paper, from which the slide's "
             "pictures are: 10 Mbit/s, 40 ms and a buffer of 210 ms."),
    _exhibit("reno", "What BBR and CUBIC leave to Reno in a deep buffer",
             "Slides 'In deep buffers: BBR, CUBIC friendliness to Reno'",
             "reno-1x", "reno-4x", "reno-16x", also=LATER, choices=ORDERS),
    _exhibit("buffer-sweep", "1 CUBIC against 1 BBR by the size of the buffer",
             "The last two backup slides", "buffer-sweep", "deep-buffer-point",
             also=LATER, choices=ORDERS + " Buffers from 0.5 to 50 BDP stand for the slide's."),
    _exhibit("lte-startup", "Downloads over a cellular link",
             "Slides 'Faster for short flows, too' and 'Robust detection of full pipes'",
             also=LATER,
             choices="The link is the preset lte with slots of 10 ms, whose grants grow with what "
             "waits from 1 Mbit/s on; how noisy the delay is beyond that is varied."),
    _exhibit("policer", "BBR and the rate of a policer", "Slide 'Lessons from deploying'",
             also=LATER, choices="The policer lets 10 of 100 Mbit/s pass after a burst of 500 KB."),
    _exhibit("ack-aggregation", "What held ACKs cost BBR", "Slide 'Lessons from deploying'",
             choices="Up to 200 ACKs become one; for how long they are held is varied."),
    _exhibit("rwnd-throttle", "Goodput by the receive window",
             "Slide 'Lessons from deploying'",
             choices="The path is 50 Mbit/s and 40 ms; the window is that of the receiving host."),
    _exhibit("backlog", "A link whose rate follows the backlog", "Slide 'Lessons from deploying'",
             choices="The link grants 10 to 50 Mbit/s in slots of 1 ms; how much must wait for the "
             "full rate is varied. A window of one BDP stands for a control that keeps no queue."),
    _exhibit("video", "The bandwidth that BBR exports, and a video's format",
             "Slide 'An opportunity: leveraging BBR's path model'", "exported-bandwidth",
             "video-format", choices="All of the experiment is chosen: 10 Mbit/s, 40 ms, 2 BDP, "
             "chunks of 4 s, a player that buffers 30 s and begins with one chunk."),
    _exhibit("aqm", "BBR and CUBIC through queue managements",
             "Slide 'Looking for ways to contribute?'", also=LATER,
             choices="All of the experiment is chosen: 20 Mbit/s, 40 ms, room of 375 KB, Linux's "
             "default parameters, no ECN, two flows."),
    _exhibit("state-walk", "BBR's walk through its states",
             "Backup slides on BBR's states", "state-walk", "both-sides",
             choices="The path is that of the slides on start-up; the buffer has 5 BDP."),
    _exhibit("probe-rtt-fairness", "Fairness with PROBE_RTT and without",
             "Backup slide on PROBE_RTT",
             choices="Five flows join as in the slide on convergence; the option `probe_rtt = 0s` "
             "leaves PROBE_RTT out."),
    *IMPROVEMENTS,
)  # fmt: skip
