"""What a language model is used for here: a prompt becomes text, within limits.

In: a ModelRequest. Out: a Completion, or an error of the ProviderError family. Every call is a
session of its own; nothing is kept between calls.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

Purpose = Literal["extract", "judge", "compact", "distil"]


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model; `namespace` and `purpose` are for the meter."""

    namespace: str
    purpose: Purpose
    system: str
    prompt: str
    timeout_s: float
    max_tokens: int = 4000


@dataclass(frozen=True)
class Completion:
    """The answer and the tokens used; `estimated` when the provider did not count."""

    text: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


class Provider(Protocol):
    name: str
    model: str

    def complete(self, request: ModelRequest) -> Completion:
        """Raises ProviderTimeout, ProviderDown, ProviderRefused or BudgetSpent."""

    def close(self) -> None:
        """Leave no child process behind; a second close is a no-op."""
