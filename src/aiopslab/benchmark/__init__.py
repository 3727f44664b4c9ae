"""Benchmarks: agents on many problems, over processes; a store of the finished episodes; reports with their uncertainty.

``plan`` says what to run, ``runner`` runs it on the workers of an ``executor`` (``pool``, ``ray_pool``) in the copies of ``worlds`` and
writes to ``store``, which is in one of the ``databases``;
``statistics``, ``tables``, ``formats``, ``plots`` and ``page`` make reports of it; ``verification`` replays recorded sessions.
"""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from aiopslab.benchmark.episodes import (
        Action as Action,
        Episode as Episode,
        EpisodeKey as EpisodeKey,
        Facts as Facts,
        build_episode as build_episode,
    )
    from aiopslab.benchmark.executor import Executor as Executor
    from aiopslab.benchmark.formats import FORMATS as FORMATS, format_text as format_text
    from aiopslab.benchmark.leaderboard import (
        Source as Source,
        build_settings_table as build_settings_table,
        read_source as read_source,
        read_sources as read_sources,
    )
    from aiopslab.benchmark.page import build_page as build_page
    from aiopslab.benchmark.plan import (
        Contestant as Contestant,
        Job as Job,
        Plan as Plan,
        add_variations as add_variations,
        list_jobs as list_jobs,
        make_contestants as make_contestants,
        use_transactions as use_transactions,
    )
    from aiopslab.benchmark.pool import Pool as Pool
    from aiopslab.benchmark.ray_pool import NoCluster as NoCluster, RayPool as RayPool
    from aiopslab.benchmark.runner import Runner as Runner, Status as Status
    from aiopslab.benchmark.store import (
        FILE_NAME as FILE_NAME,
        SESSIONS as SESSIONS,
        Run as Run,
        Store as Store,
        StoreError as StoreError,
        StoreFailed as StoreFailed,
        lock_folder as lock_folder,
    )
    from aiopslab.benchmark.tables import (
        Amount as Amount,
        Share as Share,
        Table as Table,
        build_overall as build_overall,
        build_tables as build_tables,
        compare_agents as compare_agents,
        count_solved as count_solved,
        group_by_agent as group_by_agent,
    )
    from aiopslab.benchmark.variations import (
        NAMES as NAMES,
        VARIATIONS as VARIATIONS,
        select_variations as select_variations,
    )
    from aiopslab.benchmark.verification import (
        Check as Check,
        Verifier as Verifier,
    )
    from aiopslab.benchmark.worlds import (
        AgentPerformer as AgentPerformer,
        ClusterPerformer as ClusterPerformer,
        EpisodeOptions as EpisodeOptions,
        make_remote_performer as make_remote_performer,
    )
