"""Second opinions: plans run by ns-3 (packets) and SimGrid (flows), compared with closed forms and our simulators.

    traffic.py        a plan as explicit circuits, flows and packets; sees only the plan's JSON
    ns3_driver.cc     the whole collective in one ns-3 run; packet_peer.py feeds it and reads it
    simgrid_driver.cc the whole collective in one SimGrid run; flow_peer.py feeds it and reads it
    build.py          gets ns-3 and SimGrid where it can and compiles the drivers: python -m tests.peers.build
    closed_form.py    what bursts take on one-way rings
    cases.py          the cases, which the tests and docs/validation.md share
    verdicts.py       how far two simulators may be apart: 1 ns, or what ties leave open
    validation.py     writes docs/validation.md: python -m tests.peers.validation

`make test-peers` runs what is marked `peers`; `make test` leaves it out.
"""
