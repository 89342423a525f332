"""Kilo's payloads and answers; their form is in opencode_format.py."""

from recollect.hosts.kilo.facts import FACTS
from recollect.hosts.opencode_format import OpenCodeFormat

ADAPTER = OpenCodeFormat(FACTS)
