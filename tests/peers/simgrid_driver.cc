// A whole collective in one SimGrid run: flows that share links max-min fairly, barriers between steps.
//
// Usage: simgrid_driver < traffic > result. The traffic is what flow_peer.py writes: whitespace-separated numbers,
//   when propagation is counted (0 before the bytes flow, as SimGrid does itself; 1 after)
//   links; for each: work per unit of time
//   steps; for each: time before the bytes flow (dark time and startup), flows; for each flow:
//     work, propagation, hops, link per hop
// Times and work are in units of the caller's choice: SimGrid resolves 1e-9 of a unit of time, and takes work in whole
// units. The result is one line of JSON: the simulated time at which each step ended.
//
// The model is CM02 without cross-traffic, without TCP's window and with no factor on bandwidth or latency. Propagation
// is a delay of the flow and no latency of the links, because SimGrid gives flows of larger latency a smaller share.
// Hosts are nothing but names of routes: a route is a pair of hosts, with as few hosts as there can be.

#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {

using Route = std::vector<std::size_t>;

struct Flow {
    uint64_t work;
    double propagation;
    Route route;
};

struct Step {
    double before;
    std::vector<Flow> flows;
};

[[noreturn]] void fail(const std::string& message) {
    std::cerr << "simgrid_driver: " << message << std::endl;
    std::exit(1);
}

template <typename T>
T read() {
    T value;
    if (!(std::cin >> value)) {
        fail("the traffic ends early or is not a number");
    }
    return value;
}

std::vector<Step> read_steps() {
    std::vector<Step> steps(read<std::size_t>());
    for (auto& step : steps) {
        step.before = read<double>();
        step.flows.resize(read<std::size_t>());
        for (auto& flow : step.flows) {
            flow.work = read<uint64_t>();
            flow.propagation = read<double>();
            flow.route.resize(read<std::size_t>());
            for (auto& link : flow.route) {
                link = read<std::size_t>();
            }
        }
    }
    return steps;
}

/// The pair of hosts between which a route runs.
class Routes {
  public:
    Routes(const std::vector<Step>& steps, const std::vector<double>& bandwidths) {
        for (const auto& step : steps) {
            for (const auto& flow : step.flows) {
                numbers_.emplace(flow.route, numbers_.size());
            }
        }
        side_ = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(numbers_.size()))));
        auto* zone = sg4::create_full_zone("fabric");
        for (std::size_t host = 0; host < side_; ++host) {
            from_.push_back(zone->create_host("from" + std::to_string(host), 1.0)->seal());
            to_.push_back(zone->create_host("to" + std::to_string(host), 1.0)->seal());
        }
        std::vector<sg4::Link*> links;
        for (const double bandwidth : bandwidths) {
            links.push_back(zone->create_link("link" + std::to_string(links.size()), bandwidth)->set_latency(0)->seal());
        }
        for (const auto& [route, number] : numbers_) {
            std::vector<sg4::LinkInRoute> hops;
            for (const auto link : route) {
                hops.emplace_back(links.at(link));
            }
            zone->add_route(from(number)->get_netpoint(), to(number)->get_netpoint(), nullptr, nullptr, hops, false);
        }
        zone->seal();
    }

    sg4::CommPtr comm(const Flow& flow) const {
        const auto number = numbers_.at(flow.route);
        return sg4::Comm::sendto_init(from(number), to(number))->set_payload_size(flow.work);
    }

    sg4::Host* any_host() const {
        return from_.front();
    }

  private:
    sg4::Host* from(std::size_t number) const {
        return from_[number / side_];
    }

    sg4::Host* to(std::size_t number) const {
        return to_[number % side_];
    }

    std::map<Route, std::size_t> numbers_;
    std::size_t side_ = 0;
    std::vector<sg4::Host*> from_;
    std::vector<sg4::Host*> to_;
};

/// Runs the steps one after the other and returns when each ended.
std::vector<double> run(std::vector<Step>& steps, const Routes& routes, bool propagation_last) {
    std::vector<double> ends;
    for (auto& step : steps) {
        sg4::this_actor::sleep_for(step.before);
        const double start = sg4::Engine::get_clock();
        std::stable_sort(step.flows.begin(), step.flows.end(),
                         [](const Flow& a, const Flow& b) { return a.propagation < b.propagation; });
        std::vector<sg4::CommPtr> comms;
        for (const auto& flow : step.flows) {
            if (!propagation_last) {
                sg4::this_actor::sleep_until(start + flow.propagation);
            }
            comms.push_back(routes.comm(flow));
            comms.back()->start();
        }
        double end = start;
        for (std::size_t flow = 0; flow < comms.size(); ++flow) {
            comms[flow]->wait();
            end = std::max(end, comms[flow]->get_finish_time() + (propagation_last ? step.flows[flow].propagation : 0));
        }
        sg4::this_actor::sleep_until(end);
        ends.push_back(end);
    }
    return ends;
}

} // namespace

int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv);
    for (const auto* setting : {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0",
                                "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0"}) {
        sg4::Engine::set_config(setting);
    }
    const bool propagation_last = read<int>() != 0;
    std::vector<double> bandwidths(read<std::size_t>());
    for (auto& bandwidth : bandwidths) {
        bandwidth = read<double>();
    }
    auto steps = read_steps();
    const Routes routes(steps, bandwidths);
    std::vector<double> ends;
    sg4::Actor::create("collective", routes.any_host(), [&] { ends = run(steps, routes, propagation_last); });
    engine.run();
    if (ends.size() != steps.size()) {
        fail("step " + std::to_string(ends.size()) + " never ended");
    }
    std::cout.precision(17);
    std::cout << "{\"version\": \"" << SIMGRID_VERSION_MAJOR << "." << SIMGRID_VERSION_MINOR << "\", \"ends\": [";
    for (std::size_t step = 0; step < ends.size(); ++step) {
        std::cout << (step > 0 ? ", " : "") << ends[step];
    }
    std::cout << "]}" << std::endl;
    return 0;
}
