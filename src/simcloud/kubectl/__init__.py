"""The built-in kubectl: one module per verb, calling the API in process."""

from simcloud.exports import export_lazily

with export_lazily(globals()):
    from simcloud.kubectl import tree as tree
    from simcloud.kubectl.command import ROOT as ROOT, Command as Command
    from simcloud.kubectl.connection import Door as Door
    from simcloud.kubectl.errors import Exit as Exit, KubectlError as KubectlError, PrintError as PrintError
    from simcloud.kubectl.flags import BadFlag as BadFlag, Flag as Flag, Flags as Flags, Parser as Parser
    from simcloud.kubectl.program import kubectl_program as kubectl_program
    from simcloud.kubectl.selection import find_resource as find_resource
    from simcloud.kubectl.session import Kubectl as Kubectl
