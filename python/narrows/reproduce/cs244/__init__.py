"""The reproduction of the BBR paper for CS 244 (Girardeau and Steele, 2017)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Document, Exhibit

PROFILE = "linux-4.11"
REPORT = "the CS 244 reproduction of BBR (Girardeau and Steele, 2017)"
CHOICES = (
    "Both environments are run: virtual machines, whose senders paced with fq, and Mininet, where "
    "a patched kernel let BBR pace itself, with timers taken to fire 50 microseconds late (that "
    "kernel couldn't make up for it), and CUBIC wasn't paced. Sizes of queues are those of "
    "the authors' scripts. Every packet of a sender waits up to 20 microseconds, in order, the "
    "noise of a host. "
)
LATER = ("linux-6.12",)
TOOLS = (
    " The document shows flows of netperf and of iperf. Both always have data; what they say to "
    "their servers before it is a few round trips, which shift all flows alike, so that one figure "
    "stands for both. With `--backend kernel` iperf3 sends."
)

DOCUMENT = Document("cs244", REPORT, PROFILE, CHOICES)
_exhibit = DOCUMENT.exhibit


TWO = Exhibit(
    "cs244/two-environments",
    "One description, two environments",
    f"The method of {REPORT}",
    ("cs244/two-environments",),
    "cs244.two_environments",
    LATER[0],
    choices="In place of virtual machines and Mininet: the simulator and, where one is built "
    "(`narrows kernel build`), a Linux 6.12 kernel in virtual time, both with that version's TCP "
    "and fq. The agreement study, docs/reference/agreement.md, compares them on many paths.",
)

EXHIBITS: tuple[Exhibit, ...] = (
    _exhibit("fig5", "RTTs of a BBR and of a CUBIC flow", "Figure 5", also=LATER,
             choices="The buffer is 210 ms, as the text says; the scripts have 150 to 175 packets, "
             "among which netem counts those that it delays." + TOOLS),
    _exhibit("fig6", "Throughput of five staggered BBR flows", "Figure 6", also=LATER,
             choices="Starts that aren't exact are up to half a second off, in three ways."
             + TOOLS),
    _exhibit("keeps", "What a flow gets from others' probes, and for how long",
             "The text on Figure 6", "keeps-bandwidth"),
    _exhibit("extension", "1 CUBIC against 1 BBR in large buffers", "The extension",
             "extension-6bdp", "extension-18bdp", also=LATER,
             choices="The queues are 200 and 600 packets, 6 and 18 BDP of the 40 ms that the text "
             "names; the script's path is shorter. Both flows start together, or one a second "
             "before the other."),
    _exhibit("needs-fq", "BBR with fq and without", "'Running BBR in Mininet'",
             choices="This kernel is 4.11 as released, without the patch. The path is that of "
             "Figure 5, with its buffer and with half a BDP."),
    _exhibit("gso", "Segmentation offload and convergence", "The lesson on segmentation offload",
             also=LATER, choices="Bursts are as large as the kernel makes them, up to 64 KB."),
    _exhibit("several", "Several CUBIC and BBR flows in large buffers", "The response",
             "several-flows"),
    TWO,
)  # fmt: skip
