"""Sends one QUIC stream as fast as aioquic can: the server writes, the client reads."""

import asyncio
import os
import ssl
import sys
from datetime import datetime, timedelta, timezone

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BYTES = 4_000_000


class Qlogs(QuicFileLogger):
    """Writes the qlog of a connection when it ends, or else when the program does."""

    def finish(self):
        for trace in list(self._traces):
            self.end_trace(trace)


qlogs = Qlogs(os.environ["QLOGDIR"])


def configuration(is_client):
    return QuicConfiguration(
        is_client=is_client,
        alpn_protocols=["perf"],
        quic_logger=qlogs,
        congestion_control_algorithm="cubic",
        max_data=1 << 24,
        max_stream_data=1 << 24,
    )


class Server(QuicConnectionProtocol):
    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and event.data:
            self._quic.send_stream_data(event.stream_id, bytes(BYTES), end_stream=True)
            self.transmit()


async def run_server(address, port):
    config = configuration(False)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    now = datetime.now(timezone.utc)
    cert = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    config.certificate, config.private_key = cert, key
    await serve(address, port, configuration=config, create_protocol=Server)
    await asyncio.Future()


async def run_client(address, port):
    config = configuration(True)
    config.verify_mode = ssl.CERT_NONE
    # connect() of aioquic wants an IPv6 socket, which the guests' kernel lacks.
    loop = asyncio.get_running_loop()
    _, client = await loop.create_datagram_endpoint(
        lambda: QuicConnectionProtocol(QuicConnection(configuration=config)),
        local_addr=("0.0.0.0", 0),
    )
    client.connect((address, port))
    await client.wait_connected()
    reader, writer = await client.create_stream()
    writer.write(b"go")
    total = 0
    while data := await reader.read(1 << 16):
        total += len(data)
    print(total, "bytes")


role, address, port = sys.argv[1:]
try:
    asyncio.run({"serve": run_server, "connect": run_client}[role](address, int(port)))
except KeyboardInterrupt:
    pass
finally:
    qlogs.finish()
