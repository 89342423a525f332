"""OpenCode's payloads and answers; their form is in opencode_format.py."""

from recollect.hosts.opencode.facts import FACTS
from recollect.hosts.opencode_format import OpenCodeFormat

ADAPTER = OpenCodeFormat(FACTS)
