from __future__ import annotations

import pytest

from simcloud.sim import InvariantBroken, Invariants, Kernel


def test_a_broken_invariant_fails_the_run_at_the_next_check() -> None:
    kernel = Kernel()
    allocated = [0]
    invariants = Invariants(kernel, interval_s=2.0)
    invariants.add("allocations fit", lambda: f"{allocated[0]} of 10 used" if allocated[0] > 10 else None)
    kernel.call_at(5.0, lambda _: allocated.__setitem__(0, 11))
    kernel.run_until(5.9)
    with pytest.raises(
        InvariantBroken, match=r"^invariant 'allocations fit' is broken at 6\.000000 s: 11 of 10 used$"
    ):
        kernel.run_until(10.0)
    assert kernel.now == 6.0
    with pytest.raises(InvariantBroken):
        kernel.run_until(10.0)


def test_invariants_can_be_verified_at_once() -> None:
    kernel = Kernel()
    invariants = Invariants(kernel)
    invariants.add("holds", lambda: None)
    invariants.verify()
    invariants.add("does not", lambda: "two is three")
    with pytest.raises(InvariantBroken, match=r"'does not' is broken at 0\.000000 s: two is three") as broken:
        invariants.verify()
    assert broken.value.name == "does not"


def test_a_supervised_task_does_not_swallow_a_broken_invariant() -> None:
    kernel = Kernel()
    invariants = Invariants(kernel, interval_s=100.0)
    invariants.add("never", lambda: "no")

    async def verifies() -> None:
        await kernel.sleep(1.0)
        invariants.verify()

    kernel.spawn(verifies(), "verifies", supervised=True)
    with pytest.raises(InvariantBroken):
        kernel.run_for(5.0)


def test_two_invariants_of_one_name_are_a_mistake() -> None:
    invariants = Invariants(Kernel())
    invariants.add("same", lambda: None)
    with pytest.raises(ValueError, match="there is an invariant 'same' already"):
        invariants.add("same", lambda: None)
