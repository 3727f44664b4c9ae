"""Problems: one small file per family, and the registry of all problems.

Files that only call ``define_class`` or extend ``MissingProblem``, such as ``scale_pod`` and ``ad_service_failure``, have the module paths and class
names of the public AIOpsLab release; they define no problems of their own.
"""

from aiopslab.orchestrator.problems.difficulty import (
    Difficulty as Difficulty,
    find_path as find_path,
    measure_difficulty as measure_difficulty,
)
from aiopslab.orchestrator.problems.drawn import (
    DrawnFamily as DrawnFamily,
    generate_ids as generate_ids,
    parse_id as parse_id,
    replace_noise as replace_noise,
    use_other_names as use_other_names,
)
from aiopslab.orchestrator.problems.family import Family as Family
from aiopslab.orchestrator.problems.registry import (
    TYPES as TYPES,
    CannotLoad as CannotLoad,
    ProblemRegistry as ProblemRegistry,
    UnknownProblem as UnknownProblem,
)
from aiopslab.orchestrator.problems.suites import (
    SUITES as SUITES,
    NoSuchSelection as NoSuchSelection,
    NoSuchSuite as NoSuchSuite,
    list_suite as list_suite,
    select_problems as select_problems,
)
