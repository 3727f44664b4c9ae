"""Learn by trial which repair fits which symptom: a softmax policy over a dozen macro-actions, trained with REINFORCE.

    python examples/07_train_a_policy.py [--episodes 160] [--seed 5]

An episode has three steps: look, repair, submit. The policy is a table: for each symptom that it has seen, a preference for each
repair. It begins knowing nothing, tries repairs at random, and comes to prefer those that the judge accepted. Prints the
share of episodes with success as it learns, and what it prefers at the end.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from random import Random

from aiopslab.env import IncidentEnv, Reward

PROBLEMS = [
    "scaled_to_zero_hotel_res-mitigation",
    "wrong_image_hotel_res-mitigation",
    "cordoned_nodes_hotel_res-mitigation",
    "dns_scaled_down_hotel_res-mitigation",
]
NS = "test-hotel-reservation"
UNREADY = (
    f"kubectl -n {NS} get deployments -o json | jq -r '.items[] | select((.status.readyReplicas // 0) < .spec.replicas) | "
    ".metadata.name'"
)
ZERO = f"kubectl -n {NS} get deployments -o json | jq -r '.items[] | select(.spec.replicas == 0) | .metadata.name'"
SYMPTOMS = {
    "no replicas": f"{ZERO} | grep -q .",
    "image pull fails": f"kubectl -n {NS} get pods | grep -qE 'ImagePull'",
    "pods pending": f"kubectl -n {NS} get pods | grep -q Pending",
    "nodes cordoned": "kubectl get nodes | grep -q SchedulingDisabled",
    "workloads unready": f"{UNREADY} | grep -q .",
    "no DNS": "kubectl -n kube-system get deployment coredns | grep -q ' 0/0 '",
}
LOOK = "; ".join(f"{test} && echo '{name}'" for name, test in SYMPTOMS.items())
REPAIRS = {
    "do nothing": "true",
    "scale idle workloads up": f"for name in $({ZERO}); do kubectl -n {NS} scale deployment/$name --replicas=1; done",
    "undo unready rollouts": f"for name in $({UNREADY}); do kubectl -n {NS} rollout undo deployment/$name; done",
    "restart unready workloads": f"for name in $({UNREADY}); do kubectl -n {NS} rollout restart deployment/$name; done",
    "restart every workload": f"kubectl -n {NS} rollout restart deployment",
    "delete pending pods": f"kubectl -n {NS} delete pods --field-selector status.phase=Pending",
    "uncordon nodes": "kubectl get nodes -o name | xargs -n1 kubectl uncordon",
    "drain a worker": "kubectl drain kind-worker --ignore-daemonsets --delete-emptydir-data --force --timeout=60s",
    "delete network policies": f"kubectl -n {NS} delete networkpolicies --all",
    "restart DNS": "kubectl -n kube-system rollout restart deployment/coredns",
    "delete all pods": f"kubectl -n {NS} delete pods --all --wait=false",
    "scale DNS up": "kubectl -n kube-system scale deployment/coredns --replicas=2",
}
RATE = 0.8
"""Step size of the learner."""


def act(line: str) -> str:
    """Return the action that runs a line in the terminal."""
    return f"exec_shell({line!r}, 120)"


def compute_shares(preferences: list[float]) -> list[float]:
    """Return the softmax of preferences."""
    weights = [math.exp(value - max(preferences)) for value in preferences]
    return [weight / sum(weights) for weight in weights]


def main() -> None:
    """Train, and print what was learnt."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=160)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    random, names = Random(options.seed), list(REPAIRS)
    policy: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(names))
    usual: dict[str, float] = defaultdict(float)
    """The average reward by symptom, against which an episode is compared."""
    wins: list[bool] = []
    with IncidentEnv(PROBLEMS, options.seed, reward=Reward(harm=-0.05)) as env:
        for number in range(1, options.episodes + 1):
            env.reset()
            seen, *_ = env.step(act(LOOK))
            symptoms = ", ".join(name for name in SYMPTOMS if name in seen) or "nothing"
            shares = compute_shares(policy[symptoms])
            choice = random.choices(range(len(names)), shares)[0]
            env.step(act(REPAIRS[names[choice]]))
            *_, reward, _, _, info = env.step("submit()")
            advantage = reward - usual[symptoms]
            usual[symptoms] += 0.1 * advantage
            for index, share in enumerate(shares):
                policy[symptoms][index] += RATE * advantage * ((index == choice) - share)
            wins.append(bool(info["results"]["success"]))
            if number % 20 == 0:
                print(
                    f"episodes {number - 19:3} to {number:3}: {sum(wins[-20:]) / 20:.0%} repaired", flush=True
                )
    for symptoms, preferences in sorted(policy.items()):
        share, best = max(zip(compute_shares(preferences), names, strict=True))
        print(f"{symptoms}: {best} ({share:.0%})")


if __name__ == "__main__":
    main()
