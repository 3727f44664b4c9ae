"""ls and its variants, and tree."""

from simcloud.userland.commands.file.listing import command as command, tree as tree
from simcloud.userland.commands.file.listing.command import Lister as Lister
from simcloud.userland.commands.file.listing.details import Cell as Cell, Details as Details
from simcloud.userland.commands.file.listing.entries import Entry as Entry
from simcloud.userland.commands.file.listing.settings import read_settings as read_settings
from simcloud.userland.commands.file.sizes import HUMAN as HUMAN, KIB as KIB
