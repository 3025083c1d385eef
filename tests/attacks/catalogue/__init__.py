"""Every attack that the tests try: the doctor's, and the modules of this folder."""

from __future__ import annotations

from tests.attacks.catalogue import kernel, machine, neighbors, proxy, surroundings
from tests.attacks.catalogue.blind import BLIND
from tests.attacks.catalogue.bombs import MORE_BOMBS
from tests.attacks.catalogue.hoards import HOARDS
from tests.attacks.catalogue.host_facts import datagram_socket, shared_objects
from worker.sandbox.doctor.attacks.arena import DOCTOR, AttackSet

EVERY_ATTACK = AttackSet(
    probes=(*DOCTOR.probes, surroundings, kernel, neighbors, machine),
    proxy_probes=(*DOCTOR.proxy_probes, proxy),
    bombs=(*DOCTOR.bombs, *MORE_BOMBS, *HOARDS, *BLIND),
    host_facts=(shared_objects, datagram_socket),
)
