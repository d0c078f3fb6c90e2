"""Impact of TCP BBR on CUBIC traffic: large flows beside successive small ones (Haile, 2018)."""

from __future__ import annotations

from narrows.reproduce.exhibit import Document, Exhibit

PROFILE = "linux-4.11"
PAPER = '"Impact of TCP BBR on CUBIC Traffic" (Haile et al., 2018)'
CHOICES = (
    "The path is one bottleneck of the given rate with a drop-tail queue, in place of htb and "
    "netem. The hosts pace with fq, because BBR of Linux 4.11 has no pacing without it; so CUBIC "
    "is paced too. Every packet of a sender waits up to 20 microseconds, in order: the noise of a "
    "host, without which repetitions would be alike. A run ends with the large flow. Offload, "
    "iperf3's own conversation in the gaps and what hosts remember of a destination aren't said: "
    "`narrows reproduce mixed --testbeds` judges all claims with each."
)


DOCUMENT = Document("mixed", PAPER, PROFILE, CHOICES)


def _exhibit(number: int, title: str, *claims: str) -> Exhibit:
    return DOCUMENT.exhibit(f"fig{number}", title, f"Figure {number}", *claims)


def _text(name: str, title: str, section: str, *claims: str) -> Exhibit:
    """Statements of the text that no figure shows."""
    return DOCUMENT.exhibit(name, title, f"Section {section}", *claims)


def _idea(name: str, title: str) -> Exhibit:
    return Exhibit(
        f"mixed/idea-{name}",
        title,
        f"Section VII of {PAPER}",
        (f"mixed/idea-{name}",),
        f"mixed.idea_{name.replace('-', '_')}",
        PROFILE,
        choices=CHOICES,
    )


EXHIBITS = (
    _exhibit(2, "Completion times of 1 MB flows beside a large one",
             "fig2-bbr-consistent", "fig2-cubic-bloat", "fig2-bbr-v-cubic", "fig2-cubic-v-bbr"),
    _exhibit(3, "Throughput of the large flow"),
    _exhibit(4, "Utilisation of the bottleneck", "fig4", "fig4-cubic"),
    _exhibit(5, "Windows of a large CUBIC flow and of successive 1 MB flows"),
    _exhibit(6, "Throughput of a large CUBIC flow beside flows of three sizes"),
    _exhibit(7, "Utilisation beside flows of three sizes"),
    _exhibit(8, "Growing gaps between 1 MB flows"),
    _exhibit(9, "1 MB CUBIC flows beside 1 MB flows of BBR or CUBIC"),
    _exhibit(10, "1 MB CUBIC flows beside a large flow"),
    _exhibit(11, "Windows of 1 MB CUBIC flows"),
    _exhibit(12, "Pacing rate of a large BBR flow beside 1 MB CUBIC flows"),
    _exhibit(13, "100 KB CUBIC flows beside a large flow"),
    _exhibit(14, "Distribution of the completion times of 100 KB CUBIC flows"),
    _exhibit(15, "Pacing rate of a large BBR flow beside 100 KB CUBIC flows"),
    _text("order", "Which of a CUBIC and a BBR flow came first", "V-D"),
    _text("more-flows", "More large flows at once", "VII", "more-bbr-flows", "more-cubic-flows"),
    _idea("bw-window", "A BBR with a shorter bandwidth filter beside CUBIC's bursts"),
    _idea("hystart", "Bursts of a BBR whose STARTUP HyStart can end"),
    _idea("capacity", "Bursts of a BBR whose STARTUP estimates the capacity"),
)  # fmt: skip
