"""OpenCode's sessions; their form is in opencode_transcript.py."""

from recollect.hosts.opencode.facts import FACTS
from recollect.hosts.opencode_transcript import reader

READER = reader(FACTS.name)
