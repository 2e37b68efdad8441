// A whole collective in one ns-3 run: packets on point-to-point circuits, store and forward, barriers between steps.
//
// Usage: ns3_driver < traffic > result. The traffic is what packet_peer.py writes: whitespace-separated numbers,
//   hop delay (fs), GPUs, whether bursts are handed over packet by packet in turn (1), or transfer by transfer (0)
//   topologies; for each: circuits; for each: source, destination, delay (fs) beyond the hop delay, rate (bit/s)
//   steps; for each: topology, dark time (fs), startup (fs), transfers; for each:
//     from packet to packet (fs, 0 for a burst), delay of a paced start (fs), flows, runs; for each flow: bytes on the wire of a packet and of its last packet, packets, hops, circuit per hop;
//     for each run: flow (of this transfer), packets
// The result is one line of JSON: the simulated time at which each step ended, and counts.
//
// There is no IP: a packet carries a tag with its flow, and every GPU has a table from flow to its next circuit.
// A GPU has as many transmitters and receivers as it ever has circuits; a change of topology attaches them anew.

#include "ns3/core-module.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <vector>

namespace {

using namespace ns3;

constexpr uint16_t IPV4 = 0x0800; // The device knows no other protocol number for its header.
constexpr uint32_t PPP_BYTES = 2; // It adds this header to each packet, so packets are made smaller by it.
constexpr int32_t DELIVER = -1;

[[noreturn]] void Fail(const std::string& message) {
    std::cerr << "ns3_driver: " << message << std::endl;
    std::exit(1);
}

template <typename T>
T Read() {
    T value;
    if (!(std::cin >> value)) {
        Fail("the traffic ends early or is not a number");
    }
    return value;
}

/// Which flow a packet belongs to.
class FlowTag : public Tag {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("lightloom::FlowTag").SetParent<Tag>().AddConstructor<FlowTag>();
        return id;
    }

    TypeId GetInstanceTypeId() const override {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override {
        return 4;
    }

    void Serialize(TagBuffer buffer) const override {
        buffer.WriteU32(flow);
    }

    void Deserialize(TagBuffer buffer) override {
        flow = buffer.ReadU32();
    }

    void Print(std::ostream& stream) const override {
        stream << flow;
    }

    uint32_t flow = 0;
};

struct Circuit {
    uint32_t src;
    uint32_t dst;
    int64_t extraDelay;
    uint64_t rate;
};

struct Flow {
    uint32_t wire;
    uint32_t lastWire;
    uint32_t packets;
    std::vector<uint32_t> circuits;
};

struct Run {
    uint32_t flow;
    uint32_t packets;
};

/// Packets in the order in which the sender hands them over; `at` and `sent` say how far it is.
struct Transfer {
    int64_t interval = 0;
    int64_t delay = 0;
    std::vector<Run> runs;
    std::size_t at = 0;
    uint32_t sent = 0;
};

struct Step {
    uint32_t topology;
    int64_t dark;
    int64_t startup;
    std::vector<Flow> flows;
    std::vector<Transfer> transfers;
    uint64_t packets = 0;
};

class Fabric {
  public:
    explicit Fabric();
    void Begin();
    void Report(double wallSeconds, double cpuSeconds) const;

  private:
    void ReadStep();
    void AddDevices();
    Ptr<PointToPointNetDevice> Device(Ptr<Node> node);
    void Attach(uint32_t topology);
    void BeginStep();
    void Inject();
    void InjectPaced(std::size_t transfer);
    bool HandOver(Transfer& transfer);
    void Forward(uint32_t gpu, uint32_t flow, Ptr<Packet> packet);
    bool Receive(Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const Address&);

    int64_t m_hopDelay;
    uint32_t m_gpus;
    bool m_inTurn;
    std::vector<std::vector<Circuit>> m_topologies;
    std::vector<Step> m_steps;

    std::vector<std::vector<Ptr<PointToPointNetDevice>>> m_transmitters; // [gpu][port]
    std::vector<std::vector<Ptr<PointToPointNetDevice>>> m_receivers;    // [gpu][port]
    std::vector<Ptr<PointToPointNetDevice>> m_senders;                   // [circuit of the topology in force]
    std::vector<int32_t> m_next;                                         // [flow * gpus + gpu]: a circuit, or DELIVER
    std::vector<uint32_t> m_left;                                        // [flow]: packets not yet handed over
    int64_t m_attached = -1;
    std::size_t m_step = 0;
    uint64_t m_delivered = 0;
    uint64_t m_packets = 0;
    uint64_t m_packetHops = 0;
    std::vector<int64_t> m_ends;
};

Fabric::Fabric()
    : m_hopDelay(Read<int64_t>()),
      m_gpus(Read<uint32_t>()),
      m_inTurn(Read<uint32_t>() != 0),
      m_topologies(Read<std::size_t>()) {
    for (auto& circuits : m_topologies) {
        circuits.resize(Read<std::size_t>());
        for (auto& circuit : circuits) {
            circuit.src = Read<uint32_t>();
            circuit.dst = Read<uint32_t>();
            circuit.extraDelay = Read<int64_t>();
            circuit.rate = Read<uint64_t>();
            if (circuit.src >= m_gpus || circuit.dst >= m_gpus) {
                Fail("a circuit joins a GPU that is not there");
            }
        }
    }
    for (auto steps = Read<std::size_t>(); steps > 0; --steps) {
        ReadStep();
    }
    AddDevices();
}

void Fabric::ReadStep() {
    Step step;
    step.topology = Read<uint32_t>();
    step.dark = Read<int64_t>();
    step.startup = Read<int64_t>();
    step.transfers.resize(Read<std::size_t>());
    for (auto& transfer : step.transfers) {
        transfer.interval = Read<int64_t>();
        transfer.delay = Read<int64_t>();
        const auto base = static_cast<uint32_t>(step.flows.size());
        const auto flows = Read<std::size_t>();
        transfer.runs.resize(Read<std::size_t>());
        for (std::size_t number = 0; number < flows; ++number) {
            Flow flow{Read<uint32_t>(), Read<uint32_t>(), Read<uint32_t>(), {}};
            if (flow.wire < PPP_BYTES || flow.lastWire < PPP_BYTES) {
                Fail("a packet is smaller on the wire than ns-3's own header of 2 bytes");
            }
            flow.circuits.resize(Read<std::size_t>());
            for (auto& circuit : flow.circuits) {
                circuit = Read<uint32_t>();
                if (circuit >= m_topologies.at(step.topology).size()) {
                    Fail("a flow uses a circuit that is not there");
                }
            }
            step.packets += flow.packets;
            step.flows.push_back(flow);
        }
        for (auto& run : transfer.runs) {
            run.flow = base + Read<uint32_t>();
            run.packets = Read<uint32_t>();
        }
    }
    m_steps.push_back(std::move(step));
}

void Fabric::AddDevices() {
    std::vector<uint32_t> out(m_gpus, 0);
    std::vector<uint32_t> in(m_gpus, 0);
    for (const auto& circuits : m_topologies) {
        std::map<uint32_t, uint32_t> from;
        std::map<uint32_t, uint32_t> to;
        for (const auto& circuit : circuits) {
            out[circuit.src] = std::max(out[circuit.src], ++from[circuit.src]);
            in[circuit.dst] = std::max(in[circuit.dst], ++to[circuit.dst]);
        }
    }
    m_transmitters.resize(m_gpus);
    m_receivers.resize(m_gpus);
    for (uint32_t gpu = 0; gpu < m_gpus; ++gpu) {
        Ptr<Node> node = CreateObject<Node>(); // Nodes are numbered from 0 as they are made: a node's id is its GPU.
        for (uint32_t port = 0; port < out[gpu]; ++port) {
            m_transmitters[gpu].push_back(Device(node));
        }
        for (uint32_t port = 0; port < in[gpu]; ++port) {
            m_receivers[gpu].push_back(Device(node));
        }
    }
}

Ptr<PointToPointNetDevice> Fabric::Device(Ptr<Node> node) {
    auto device = CreateObject<PointToPointNetDevice>();
    auto queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, UINT32_MAX));
    device->SetQueue(queue);
    node->AddDevice(device);
    device->SetReceiveCallback(MakeCallback(&Fabric::Receive, this));
    return device;
}

void Fabric::Attach(uint32_t topology) {
    if (m_attached == topology) {
        return;
    }
    m_attached = topology;
    std::vector<uint32_t> out(m_gpus, 0);
    std::vector<uint32_t> in(m_gpus, 0);
    m_senders.clear();
    for (const auto& circuit : m_topologies[topology]) {
        auto channel = CreateObject<PointToPointChannel>();
        channel->SetAttribute("Delay", TimeValue(FemtoSeconds(m_hopDelay + circuit.extraDelay)));
        auto transmitter = m_transmitters[circuit.src][out[circuit.src]++];
        auto receiver = m_receivers[circuit.dst][in[circuit.dst]++];
        transmitter->SetDataRate(DataRate(circuit.rate));
        transmitter->Attach(channel);
        receiver->Attach(channel);
        m_senders.push_back(transmitter);
    }
}

void Fabric::Begin() {
    if (m_step < m_steps.size()) {
        Simulator::Schedule(FemtoSeconds(m_steps[m_step].dark), &Fabric::BeginStep, this);
    }
}

void Fabric::BeginStep() {
    const Step& step = m_steps[m_step];
    Attach(step.topology);
    m_next.assign(step.flows.size() * m_gpus, DELIVER);
    m_left.clear();
    m_delivered = 0;
    for (std::size_t flow = 0; flow < step.flows.size(); ++flow) {
        for (const auto circuit : step.flows[flow].circuits) {
            m_next[flow * m_gpus + m_topologies[step.topology][circuit].src] = static_cast<int32_t>(circuit);
        }
        m_left.push_back(step.flows[flow].packets);
    }
    Simulator::Schedule(FemtoSeconds(step.startup), &Fabric::Inject, this);
}

void Fabric::Inject() {
    Step& step = m_steps[m_step];
    for (std::size_t number = 0; number < step.transfers.size(); ++number) {
        if (step.transfers[number].interval > 0) {
            Simulator::Schedule(FemtoSeconds(step.transfers[number].delay), &Fabric::InjectPaced, this, number);
            continue;
        }
        while (!m_inTurn && HandOver(step.transfers[number])) {
        }
    }
    for (bool more = m_inTurn; more;) {
        more = false;
        for (auto& transfer : step.transfers) {
            more = (transfer.interval == 0 && HandOver(transfer)) || more;
        }
    }
}

/// Hands over one packet, and the next one an interval later.
void Fabric::InjectPaced(std::size_t number) {
    Transfer& transfer = m_steps[m_step].transfers[number];
    if (HandOver(transfer)) {
        Simulator::Schedule(FemtoSeconds(transfer.interval), &Fabric::InjectPaced, this, number);
    }
}

/// Hands the transfer's next packet to its first circuit; false when there is none.
bool Fabric::HandOver(Transfer& transfer) {
    if (transfer.at == transfer.runs.size()) {
        return false;
    }
    const Run& run = transfer.runs[transfer.at];
    const Step& step = m_steps[m_step];
    const Flow& flow = step.flows[run.flow];
    const uint32_t wire = --m_left[run.flow] == 0 ? flow.lastWire : flow.wire;
    auto packet = Create<Packet>(wire - PPP_BYTES);
    FlowTag tag;
    tag.flow = run.flow;
    packet->AddPacketTag(tag);
    ++m_packets;
    if (++transfer.sent == run.packets) {
        transfer.sent = 0;
        ++transfer.at;
    }
    Forward(m_topologies[step.topology][flow.circuits.front()].src, run.flow, packet);
    return true;
}

void Fabric::Forward(uint32_t gpu, uint32_t flow, Ptr<Packet> packet) {
    const auto& device = m_senders[m_next[static_cast<std::size_t>(flow) * m_gpus + gpu]];
    if (!device->Send(packet, device->GetBroadcast(), IPV4)) {
        Fail("a packet was dropped");
    }
}

bool Fabric::Receive(Ptr<NetDevice> device, Ptr<const Packet> packet, uint16_t, const Address&) {
    ++m_packetHops;
    FlowTag tag;
    packet->PeekPacketTag(tag);
    const auto gpu = device->GetNode()->GetId();
    if (m_next[static_cast<std::size_t>(tag.flow) * m_gpus + gpu] != DELIVER) {
        Forward(gpu, tag.flow, packet->Copy());
    } else if (++m_delivered == m_steps[m_step].packets) {
        m_ends.push_back(Simulator::Now().GetFemtoSeconds());
        ++m_step;
        Begin();
    }
    return true;
}

void Fabric::Report(double wallSeconds, double cpuSeconds) const {
    if (m_ends.size() != m_steps.size()) {
        Fail("step " + std::to_string(m_ends.size()) + " never ended");
    }
    for (const auto& devices : m_transmitters) {
        for (const auto& device : devices) {
            if (device->GetQueue()->GetTotalDroppedPackets() != 0 || !device->GetQueue()->IsEmpty()) {
                Fail("a queue dropped or kept packets");
            }
        }
    }
    std::cout << "{\"ends_fs\": [";
    for (std::size_t step = 0; step < m_ends.size(); ++step) {
        std::cout << (step > 0 ? ", " : "") << m_ends[step];
    }
    std::cout << "], \"packets\": " << m_packets << ", \"packet_hops\": " << m_packetHops
              << ", \"wall_s\": " << wallSeconds
              << ", \"cpu_s\": " << cpuSeconds << "}" << std::endl;
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    Time::SetResolution(Time::FS);
    Fabric fabric;
    const auto start = std::chrono::steady_clock::now();
    const auto startCpu = std::clock();
    fabric.Begin();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    fabric.Report(wall.count(), static_cast<double>(std::clock() - startCpu) / CLOCKS_PER_SEC);
    Simulator::Destroy();
    return 0;
}
