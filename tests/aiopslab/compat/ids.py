"""The ids of the public AIOpsLab release's problems, by family; disabled ones have an entry of their own."""

from __future__ import annotations

from typing import Final

FOUR: Final = ("detection", "localization", "analysis", "mitigation")
TWO: Final = FOUR[:2]
SHOP: Final = (
    "ad_service_failure", "ad_service_high_cpu", "ad_service_manual_gc", "cart_service_failure", "image_slow_load",
    "kafka_queue_problems", "loadgenerator_flood_homepage", "payment_service_failure", "payment_service_unreachable",
    "product_catalog_service_failure", "recommendation_service_cache_failure",
)  # fmt: skip
OPERATOR: Final = (
    "overload_replicas", "non_existent_storage", "invalid_affinity_toleration", "security_context_fault", "wrong_update_strategy",
)  # fmt: skip


def make_ids(family: str, tasks: tuple[str, ...], instances: int = 1) -> list[str]:
    """Return the ids of a family's problems."""
    return [f"{family}-{task}-{number}" for number in range(1, instances + 1) for task in tasks]


LIVE: Final[dict[str, list[str]]] = {
    "k8s_target_port-misconfig": make_ids("k8s_target_port-misconfig", FOUR, 3),
    "auth_miss_mongodb": make_ids("auth_miss_mongodb", FOUR),
    "revoke_auth_mongodb": make_ids("revoke_auth_mongodb", FOUR, 2),
    "user_unregistered_mongodb": make_ids("user_unregistered_mongodb", FOUR, 2),
    "misconfig_app_hotel_res": make_ids("misconfig_app_hotel_res", FOUR),
    "scale_pod_zero_social_net": make_ids("scale_pod_zero_social_net", FOUR),
    "assign_to_non_existent_node_social_net": make_ids("assign_to_non_existent_node_social_net", FOUR),
    "container_kill": ["container_kill-detection", "container_kill-localization"],
    "pod_failure_hotel_res": make_ids("pod_failure_hotel_res", TWO),
    "pod_kill_hotel_res": make_ids("pod_kill_hotel_res", TWO),
    "network_loss_hotel_res": make_ids("network_loss_hotel_res", TWO),
    "network_delay_hotel_res": make_ids("network_delay_hotel_res", TWO),
    "redeploy_without_PV": make_ids("redeploy_without_PV", ("detection", "analysis", "mitigation")),
    "wrong_bin_usage": make_ids("wrong_bin_usage", FOUR),
    "noop_detection_hotel_reservation": ["noop_detection_hotel_reservation-1"],
    "noop_detection_social_network": ["noop_detection_social_network-1"],
    "noop_detection_astronomy_shop": ["noop_detection_astronomy_shop-1"],
    **{
        f"astronomy_shop_{name}": make_ids(
            f"astronomy_shop_{name}", (*TWO, "mitigation") if name.startswith("kafka") else TWO
        )
        for name in SHOP
    },
    "flower_node_stop": ["flower_node_stop-detection"],
    "flower_model_misconfig": ["flower_model_misconfig-detection"],
}
DISABLED: Final[dict[str, list[str]]] = {
    "kernel_fault_hotel_reservation": make_ids("kernel_fault_hotel_reservation", TWO),
    "disk_woreout": make_ids("disk_woreout", TWO),
    "redeploy_without_PV": make_ids("redeploy_without_PV", ("localization",)),
    **{f"operator_{name}": make_ids(f"operator_{name}", TWO) for name in OPERATOR},
}
