"""Problems of the public AIOpsLab release that wait for TiDB with its operator."""

from aiopslab.orchestrator.problems.missing import MissingProblem

__all__ = [
    "K8SOperatorInvalidAffinityTolerationDetection",
    "K8SOperatorInvalidAffinityTolerationLocalization",
    "K8SOperatorNonExistentStorageDetection",
    "K8SOperatorNonExistentStorageLocalization",
    "K8SOperatorOverloadReplicasDetection",
    "K8SOperatorOverloadReplicasLocalization",
    "K8SOperatorSecurityContextFaultDetection",
    "K8SOperatorSecurityContextFaultLocalization",
    "K8SOperatorWrongUpdateStrategyDetection",
    "K8SOperatorWrongUpdateStrategyLocalization",
]


class K8SOperatorOverloadReplicasDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorOverloadReplicasLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorNonExistentStorageDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorNonExistentStorageLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorInvalidAffinityTolerationDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorInvalidAffinityTolerationLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorSecurityContextFaultDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorSecurityContextFaultLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorWrongUpdateStrategyDetection(MissingProblem):
    """Creating it raises ``NotAvailable``."""


class K8SOperatorWrongUpdateStrategyLocalization(MissingProblem):
    """Creating it raises ``NotAvailable``."""
