"""What answers in a dialogue: an OpenAI-compatible server, or a built-in player as a baseline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from duels.core.errors import DuelsError, OptionError, one_line, quote
from duels.core.extras import need
from duels.core.player import View
from duels.llm.answers import Answer, key_of
from duels.llm.dialogue import MOVE, Message, Question, Reply
from duels.players import full_name, make_opponent

KEY, ADDRESS = "OPENAI_API_KEY", "OPENAI_BASE_URL"  # variables of the environment
RETRIES = 8  # of a call that failed on its way; the client waits longer before each
OWN = ("model", "messages", "stream", "n")  # parameters that the run sets


class TransportFault(DuelsError):
    """A call that got no answer. It changes no score: the run stops, and a rerun continues it."""


class Endpoint(Protocol):
    """A source of replies."""

    name: str
    parameters: Mapping[str, Any]

    async def ask(self, messages: Sequence[Message], sample: int, view: View) -> Answer:
        """The answer to messages; `view` is what they are about."""

    async def close(self) -> None:
        """Release connections."""


class Server:
    """A model on an OpenAI-compatible server. The key comes from the environment only."""

    def __init__(
        self, model: str, base_url: str | None, parameters: Mapping[str, Any], timeout: float
    ) -> None:
        openai = need("openai", extra="llm")
        if wrong := [name for name in parameters if name in OWN]:
            raise OptionError(f"--param cannot set {', '.join(wrong)}")
        self.name, self._openai = model, openai
        self.parameters: Mapping[str, Any] = dict(parameters)
        self._key = os.environ.get(KEY, "")
        base_url = base_url or os.environ.get(ADDRESS) or None
        if not self._key and base_url is None:
            raise OptionError(
                f"set the variable {KEY}, or give the address of a local server as --base-url"
            )
        self._settings = {
            "api_key": self._key or "none", "base_url": base_url, "max_retries": RETRIES,
            "timeout": timeout,
        }  # fmt: skip
        self._client: Any = None  # a client belongs to one event loop, so it is made when needed

    async def ask(self, messages: Sequence[Message], sample: int, view: View) -> Answer:
        openai = self._openai
        self._client = self._client or openai.AsyncOpenAI(**self._settings)
        try:
            found = await self._client.chat.completions.create(
                model=self.name, messages=list(messages), extra_body=dict(self.parameters) or None
            )
        except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError) as e:
            raise TransportFault(
                f"no answer from the server after {RETRIES} retries: {self._told(e)}; "
                "nothing is lost: the same command continues"
            ) from None
        except openai.OpenAIError as e:
            raise DuelsError(f"the server refuses the request: {self._told(e)}") from None
        except ValueError as e:  # an answer that is not JSON
            raise TransportFault(f"the server's answer is not JSON: {self._told(e)}") from None
        if not getattr(found, "choices", None):
            raise TransportFault("the server's answer has no choices; the same command continues")
        choice, usage = found.choices[0], found.usage
        said = choice.message
        thought = getattr(said, "reasoning_content", None) or getattr(said, "reasoning", None)
        reply = Reply(
            said.content or "", choice.finish_reason or "stop",
            thought if isinstance(thought, str) else "", getattr(said, "refusal", None) or "",
        )  # fmt: skip
        if usage is None:
            return Answer(reply)
        return Answer(reply, usage.prompt_tokens or 0, usage.completion_tokens or 0)

    def _told(self, error: BaseException) -> str:
        text = one_line(error)
        return text.replace(self._key, "***") if self._key else text

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


class BuiltInPlayer:
    """A built-in player that answers in the form that a model is asked for."""

    parameters: Mapping[str, Any] = {}

    def __init__(self, name: str, question: Question) -> None:
        self.name, self.question = full_name(name), question
        make_opponent(self.name, "")  # raises if it is no player

    async def ask(self, messages: Sequence[Message], sample: int, view: View) -> Answer:
        player = make_opponent(self.name, key_of(self.name, {}, messages, sample))
        if self.question.answer == MOVE:
            return Answer(Reply(f"MOVE: {player.choose(view)}"))
        strategy = player.mixed_strategy(view)
        if strategy is None:
            raise OptionError(f"{quote(self.name)} does not state its mixed strategy")
        stated = "; ".join(f"{move} = {chance!r}" for move, chance in strategy.items())
        return Answer(Reply(f"MIX: {stated}"))

    async def close(self) -> None:
        pass
