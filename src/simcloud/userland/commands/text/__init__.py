"""Tools that read, change and compare text and data.

The references are GNU coreutils 9.1, diffutils 3.8, util-linux 2.38, tar 1.34 and gzip 1.12 of Debian 12, in the C
locale: a character is a byte. Importing this package registers the commands.
"""

from importlib import import_module
from pkgutil import walk_packages

for _module in sorted(module.name for module in walk_packages(__path__, f"{__name__}.")):
    import_module(_module)
