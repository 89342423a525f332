"""Kilo's sessions; their form is in opencode_transcript.py."""

from recollect.hosts.kilo.facts import FACTS
from recollect.hosts.opencode_transcript import reader

READER = reader(FACTS.name)
