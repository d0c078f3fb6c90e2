"""The sizes of full packets, which convert between packets, payload and bytes on the wire."""

from __future__ import annotations

PACKET_BYTES = 1500
"""IP bytes of a full packet."""
PAYLOAD_BYTES = 1448
"""Payload bytes of a full packet: IP and TCP headers take 40 bytes, timestamps 12."""
PACKET_BITS = 8 * PACKET_BYTES
PAYLOAD_BITS = 8 * PAYLOAD_BYTES
WIRE = PACKET_BYTES / PAYLOAD_BYTES
"""IP bytes per byte of payload, in full packets."""
