"""The Kubernetes API in process: objects in one revision log, behind the rules of their kinds."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubernetes.api import (
        amounts as amounts,
        field_errors as field_errors,
        quantity as quantity,
        selectors as selectors,
        times as times,
    )
    from simcloud.kubernetes.api.aggregation import Unserved as Unserved
    from simcloud.kubernetes.api.amounts import (
        Amount as Amount,
        Amounts as Amounts,
        parse_amounts as parse_amounts,
        pod_amounts as pod_amounts,
    )
    from simcloud.kubernetes.api.api import Api as Api
    from simcloud.kubernetes.api.errors import (
        ApiError as ApiError,
        ApplyConflict as ApplyConflict,
        BadRequest as BadRequest,
        Forbidden as Forbidden,
        InternalError as InternalError,
        Invalid as Invalid,
        MethodNotAllowed as MethodNotAllowed,
        NoSuchPath as NoSuchPath,
        NotAcceptable as NotAcceptable,
        NotFound as NotFound,
        ServiceUnavailable as ServiceUnavailable,
        TooLarge as TooLarge,
        TooManyRequests as TooManyRequests,
        Unauthorized as Unauthorized,
        UnsupportedMediaType as UnsupportedMediaType,
        qualify as qualify,
    )
    from simcloud.kubernetes.api.field_errors import FieldError as FieldError
    from simcloud.kubernetes.api.objects import (
        LAST_APPLIED as LAST_APPLIED,
        Object as Object,
        at as at,
        copy as copy,
        meta as meta,
        name_of as name_of,
        namespace_of as namespace_of,
    )
    from simcloud.kubernetes.api.options import (
        DeleteOptions as DeleteOptions,
        ListOptions as ListOptions,
        WriteOptions as WriteOptions,
    )
    from simcloud.kubernetes.api.resources import (
        Catalogue as Catalogue,
        Resource as Resource,
        Subresource as Subresource,
    )
    from simcloud.kubernetes.api.runtime import (
        Flow as Flow,
        Forward as Forward,
        LogOptions as LogOptions,
        LogStream as LogStream,
        Runtime as Runtime,
        Session as Session,
        Splice as Splice,
    )
    from simcloud.kubernetes.api.selectors import LabelSelector as LabelSelector
    from simcloud.kubernetes.api.store import Key as Key, Revision as Revision, RevisionLog as RevisionLog
    from simcloud.kubernetes.api.version import VERSION as VERSION
    from simcloud.kubernetes.api.write_retries import (
        Pending as Pending,
        ResponsePending as ResponsePending,
        WriteRetry as WriteRetry,
    )
