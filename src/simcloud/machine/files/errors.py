"""The one error of the filesystem: a code as in errno.h and the sentence the C library has for it."""

from __future__ import annotations

from typing import Final

SENTENCES: Final[dict[str, str]] = {
    "EACCES": "Permission denied",
    "EBADF": "Bad file descriptor",
    "EBUSY": "Device or resource busy",
    "EDQUOT": "Disk quota exceeded",
    "EEXIST": "File exists",
    "EFBIG": "File too large",
    "EINVAL": "Invalid argument",
    "EIO": "Input/output error",
    "EISDIR": "Is a directory",
    "ELOOP": "Too many levels of symbolic links",
    "EMFILE": "Too many open files",
    "EMLINK": "Too many links",
    "ENAMETOOLONG": "File name too long",
    "ENODEV": "No such device",
    "ENOENT": "No such file or directory",
    "ENOMEM": "Cannot allocate memory",
    "ENOSPC": "No space left on device",
    "ENOTDIR": "Not a directory",
    "ENOTEMPTY": "Directory not empty",
    "ENXIO": "No such device or address",
    "EPERM": "Operation not permitted",
    "EROFS": "Read-only file system",
    "ESPIPE": "Illegal seek",
    "ESTALE": "Stale file handle",
    "ETXTBSY": "Text file busy",
    "EXDEV": "Invalid cross-device link",
}


class FileError(Exception):
    """What a system call on files answers instead of a result. ``str(error)`` is the plain sentence."""

    def __init__(self, code: str, path: str = "") -> None:
        self.code = code
        self.path = path
        self.strerror = SENTENCES[code]
        super().__init__(self.strerror)

    def __repr__(self) -> str:
        return f"FileError({self.code!r}, {self.path!r})"
