// The loads of tools/bench.py in ns-3: flows through one drop-tail bottleneck.
//
//   sender -- (10 x rate) -- router == (rate, the buffer) == router -- (10 x rate) -- receiver
//
// Prints a line of JSON: the packets that left the bottleneck, and the CPU time of the simulation
// alone, without setting it up. Builds with ns-3.37 and newer.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace {

const uint32_t MSS = 1448;

double CpuSeconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec +
           1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

PointToPointHelper Wire(uint64_t bps, Time delay) {
    PointToPointHelper wire;
    wire.DisableFlowControl(); // the device's own queue is the only one
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bps)));
    wire.SetChannelAttribute("Delay", TimeValue(delay));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1000000)));
    return wire;
}

Ipv4InterfaceContainer Addresses(const NetDeviceContainer& wire, uint32_t side, uint32_t flow) {
    std::ostringstream network;
    network << side << '.' << flow / 250 << '.' << flow % 250 << ".0";
    return Ipv4AddressHelper(network.str().c_str(), "255.255.255.0").Assign(wire);
}

TypeId Control(const std::string& cca) {
    return TypeId::LookupByName(cca == "bbr" ? "ns3::TcpBbr" : "ns3::TcpCubic");
}

} // namespace

int main(int argc, char** argv) {
    uint64_t rate = 0, rtt = 0, duration = 0;
    uint32_t buffer = 0;
    std::string names;
    CommandLine command;
    command.AddValue("rate", "bottleneck rate, bit/s", rate);
    command.AddValue("rtt", "round-trip time without queueing, ns", rtt);
    command.AddValue("buffer", "buffer of the bottleneck, bytes", buffer);
    command.AddValue("flows", "congestion control of each flow, bbr or cubic: bbr,cubic", names);
    command.AddValue("duration", "simulated time, ns", duration);
    command.Parse(argc, argv);
    std::replace(names.begin(), names.end(), ',', ' ');
    std::istringstream words(names);
    const std::vector<std::string> flows{std::istream_iterator<std::string>(words), {}};

    // Linux's timers, and buffers of the sockets that never limit.
    const uint64_t window = std::max<uint64_t>(4 * (rate / 8 * rtt / 1000000000 + buffer), 1 << 19);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));

    NodeContainer routers(2), senders(flows.size()), receivers(flows.size());
    InternetStackHelper stack;
    Ipv4StaticRoutingHelper routes;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(routes);
    stack.Install(routers);
    stack.Install(senders);
    stack.Install(receivers);

    const Time edge = NanoSeconds(rtt / 40), core = NanoSeconds(rtt / 2 - 2 * (rtt / 40));
    NetDeviceContainer bottleneck = Wire(rate, core).Install(routers);
    Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(bottleneck.Get(0))->GetQueue();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::BYTES, buffer));
    Ipv4InterfaceContainer middle = Addresses(bottleneck, 30, 0);
    auto table = [&routes](Ptr<Node> node) {
        return routes.GetStaticRouting(node->GetObject<Ipv4>());
    };
    table(routers.Get(0))->AddNetworkRouteTo("20.0.0.0", "255.0.0.0", middle.GetAddress(1), 1);
    table(routers.Get(1))->AddNetworkRouteTo("10.0.0.0", "255.0.0.0", middle.GetAddress(0), 1);

    PointToPointHelper access = Wire(10 * rate, edge);
    for (uint32_t flow = 0; flow < flows.size(); ++flow) {
        Ptr<Node> sender = senders.Get(flow), receiver = receivers.Get(flow);
        auto near = Addresses(access.Install(sender, routers.Get(0)), 10, flow);
        auto far = Addresses(access.Install(routers.Get(1), receiver), 20, flow);
        table(sender)->SetDefaultRoute(near.GetAddress(1), 1);
        table(receiver)->SetDefaultRoute(far.GetAddress(0), 1);
        sender->GetObject<TcpL4Protocol>()->SetAttribute("SocketType",
                                                         TypeIdValue(Control(flows[flow])));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), 5001));
        sink.Install(receiver).Start(Seconds(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(far.GetAddress(1), 5001));
        bulk.SetAttribute("SendSize", UintegerValue(MSS));
        bulk.Install(sender).Start(Seconds(0));
    }

    Simulator::Stop(NanoSeconds(duration));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - before;
    const uint64_t packets = queue->GetTotalReceivedPackets() - queue->GetNPackets();
    std::printf("{\"packets\": %llu, \"cpu_s\": %.6f}\n", (unsigned long long)packets, cpu);
    Simulator::Destroy();
    return 0;
}
