"""The errors of mongod: code, code name and message."""

from __future__ import annotations

from typing import Final

from simcloud.datastores.mongodb.bson import Document

NAMES: Final[dict[int, str]] = {
    1: "InternalError", 2: "BadValue", 8: "UnknownError", 9: "FailedToParse", 11: "UserNotFound", 13: "Unauthorized",
    14: "TypeMismatch", 15: "Overflow", 17: "ProtocolError", 18: "AuthenticationFailed", 20: "IllegalOperation",
    26: "NamespaceNotFound", 27: "IndexNotFound", 28: "PathNotViable", 31: "RoleNotFound",
    40: "ConflictingUpdateOperators", 43: "CursorNotFound", 48: "NamespaceExists", 50: "MaxTimeMSExpired",
    52: "DollarPrefixedFieldName", 53: "InvalidIdField", 59: "CommandNotFound", 66: "ImmutableField",
    67: "CannotCreateIndex", 68: "IndexAlreadyExists", 72: "InvalidOptions", 73: "InvalidNamespace",
    76: "NoReplicationEnabled", 85: "IndexOptionsConflict", 86: "IndexKeySpecsConflict", 91: "ShutdownInProgress",
    94: "NotYetInitialized", 93: "InvalidPipelineOperator", 96: "OperationFailed", 172: "UnsupportedOpQueryCommand",
    197: "InvalidIndexSpecificationOption", 292: "QueryExceededMemoryLimitNoDiskUseAllowed", 11000: "DuplicateKey",
    11601: "InterruptedAtShutdown", 17280: "KeyTooLong", 51003: "Location51003",
}  # fmt: skip


class MongoFailure(Exception):
    """A command that failed. ``details`` are further fields of the reply."""

    def __init__(self, code: int, message: str, details: Document | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details or {}

    @property
    def name(self) -> str:
        """The code's name."""
        return NAMES.get(self.code, f"Location{self.code}")

    def reply(self) -> Document:
        """Return the reply document."""
        return {"ok": 0.0, "errmsg": self.message, "code": self.code, "codeName": self.name, **self.details}


class DuplicateKey(MongoFailure):
    """A second document with the same key in a unique index."""

    def __init__(self, namespace: str, index: str, pattern: Document, value: Document, shown: str) -> None:
        message = f"E11000 duplicate key error collection: {namespace} index: {index} dup key: {shown}"
        super().__init__(11000, message, {"keyPattern": pattern, "keyValue": value})


def bad_value(message: str) -> MongoFailure:
    """Return the error BadValue."""
    return MongoFailure(2, message)


def parse_failure(message: str) -> MongoFailure:
    """Return the error FailedToParse."""
    return MongoFailure(9, message)
