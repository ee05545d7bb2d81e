"""What standalone scripts are made of besides the plan: a scripted model, a session, observers."""

from __future__ import annotations

from collections.abc import Collection, Mapping

IMPORTS = '''\
import asyncio

from agents import (
{names}
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseUsage,
)
from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails
'''

MODEL = '''\
seen = {}  # what happened, by run
started = []  # tools, in the order in which they were started
given = []  # what each model call was given: the agent, the items


# Not validated, for releases of openai ask for other details.
USAGE = ResponseUsage.model_construct(
    input_tokens=10, input_tokens_details=InputTokensDetails.model_construct(cached_tokens=0),
    output_tokens=5, total_tokens=15,
    output_tokens_details=OutputTokensDetails.model_construct(reasoning_tokens=0))


class ScriptedModel(Model):
    """Answers with the next turn of its script; no request leaves this process."""

    def __init__(self, agent):
        self.agent = agent
        self.turns = []

    def answer(self, items):
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        given.append((self.agent, [dict(item) for item in items]))
        assert self.turns, f"the model of {self.agent} was called more often than expected"
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def get_response(self, system_instructions, input, *args, **kwargs):
        usage = Usage(requests=1, input_tokens=10, output_tokens=5, total_tokens=15)
        return ModelResponse(output=self.answer(input), usage=usage, response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        output = self.answer(input)
        for n, item in enumerate(output):
            yield ResponseOutputItemDoneEvent(
                type="response.output_item.done", sequence_number=n, output_index=n, item=item)
        response = Response(
            id="response", created_at=0, model="scripted", object="response", output=output,
            tool_choice="auto", tools=[], parallel_tool_calls=True, usage=USAGE)
        yield ResponseCompletedEvent(
            type="response.completed", sequence_number=len(output), response=response)


def say(text, id):
    part = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return ResponseOutputMessage(
        id=id, type="message", role="assistant", status="completed", content=[part])


def call(name, call_id, arguments="{}"):
    return ResponseFunctionToolCall(
        id=f"fc-{call_id}", type="function_call", call_id=call_id, name=name,
        arguments=arguments, status="completed")
'''

REASONING = '''\
def think(text, id):
    summary = [Summary(type="summary_text", text=text)]
    return ResponseReasoningItem(id=id, type="reasoning", summary=summary)
'''

SESSION = '''\
class MemorySession:
    """A session in memory."""

    def __init__(self, session_id, settings=None):
        self.session_id = session_id
        self.session_settings = settings
        self.items = []

    async def get_items(self, limit=None):
        if limit is None:
            return list(self.items)
        return self.items[-limit:] if limit > 0 else []

    async def add_items(self, items):
        self.items.extend(items)

    async def pop_item(self):
        return self.items.pop() if self.items else None

    async def clear_session(self):
        self.items.clear()
'''

HOOKS = '''\
class Hooks(RunHooks):
    """Notes every hook of the run; the one named `fails` raises once."""

    def __init__(self, fails=None, error=None):
        self.fails, self.error, self.heard = fails, error, []

    def note(self, on, *names):
        self.heard.append(" ".join([on, *names]))
        if self.fails == on:
            self.fails = None
            raise self.error

    async def on_agent_start(self, context, agent):
        self.note("on_agent_start", agent.name)

    async def on_agent_end(self, context, agent, output):
        self.note("on_agent_end", agent.name)

    async def on_llm_start(self, context, agent, *rest):
        self.note("on_llm_start", agent.name)

    async def on_llm_end(self, context, agent, *rest):
        self.note("on_llm_end", agent.name)

    async def on_tool_start(self, context, agent, tool):
        self.note("on_tool_start", agent.name, tool.name)

    async def on_tool_end(self, context, agent, tool, result):
        self.note("on_tool_end", agent.name, tool.name)

    async def on_handoff(self, context, from_agent, to_agent):
        self.note("on_handoff", from_agent.name, to_agent.name)
'''

SPANS = '''\
class Spans(TracingProcessor):
    """Notes every span, and whether it was ended and told of an error."""

    def __init__(self):
        self.begun, self.ended = [], set()

    def on_trace_start(self, trace):
        pass

    def on_trace_end(self, trace):
        pass

    def on_span_start(self, span):
        self.begun.append(span)

    def on_span_end(self, span):
        self.ended.add(span.span_id)

    def shutdown(self):
        pass

    def force_flush(self):
        pass

    def seen(self):
        found = []
        for span in self.begun:
            name = getattr(span.span_data, "name", None) or ""
            told = ["never ended"] if span.span_id not in self.ended else []
            told += ["with an error"] if span.error else []
            found.append(" ".join([span.span_data.type, name, *told]).replace("  ", " ").strip())
        return sorted(found)


spans = Spans()
set_trace_processors([spans])
'''

_RUN = '''\
async def run(name, agent, input, *, streamed=False, session=None, **options):
    """Run the agent and keep what can be seen of it in `seen[name]`."""
    started.clear()
    given.clear()
    result, outcome, told = None, "completed", None
    options["run_config"] = RunConfig({config})
    if session is not None:
        options["session"] = session
{before}    try:
        if streamed:
            result = Runner.run_streamed(agent, input, **options)
            async for event in result.stream_events():
                {each}
        else:
            result = await Runner.run(agent, input, **options)
        told = result
    except (Exception, asyncio.CancelledError) as error:
        result, outcome = None, f"raised {type(error).__name__}"
        told = getattr(error, "run_data", None)
    waiting = getattr(result, "interruptions", None) or []
    if waiting:
        outcome = "interrupted"
    inputs = [[agent, labels(items)] for agent, items in given]
    seen[name] = {
        "outcome": outcome, "tools": list(started), "inputs": inputs,
        "pending": [call_id(item) for item in waiting],
        "output": str(result.final_output) if outcome == "completed" else None,
        "unpaired": unpaired([items for _, items in given])}
    if session is not None:
        held = await session.get_items()
        seen[name]["session"] = labels(held)
        seen[name]["unpaired"] += unpaired([held])
{after}    return result


def call_id(interruption):
    raw = interruption.raw_item
    return raw["call_id"] if isinstance(raw, dict) else raw.call_id


def labels(items):
    """Short names of conversation items."""
    return [label(item) for item in items]


def label(item):
    kind = item.get("type", "message")
    if kind == "function_call":
        return f"call:{item['call_id']}"
    if kind == "function_call_output":
        return f"output:{item['call_id']}"
    if kind == "reasoning":
        return "reasoning:" + "".join(part.get("text", "") for part in item.get("summary", []))
    if kind != "message":
        return kind
    content = item["content"]
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    return f"{item['role']}:{content}"


def unpaired(conversations):
    """Calls without an output, and outputs without a call before them."""
    found = []
    for items in conversations:
        calls = []
        for item in items:
            if item.get("type") == "function_call":
                calls.append(item["call_id"])
            elif item.get("type") == "function_call_output":
                if item["call_id"] in calls:
                    calls.remove(item["call_id"])
                else:
                    found.append(f"output:{item['call_id']}")
        found += [f"call:{call}" for call in calls]
    return found
'''

DECIDE = '''\
def decide(state, call, approve, **options):
    """Approve or reject the call that waits under this id."""
    (item,) = [item for item in state.get_interruptions() if call_id(item) == call]
    (state.approve if approve else state.reject)(item, **options)
'''

#: What a fact needs of `run`: lines before the run, what is done with each event, lines after it.
_OBSERVED: Mapping[str, tuple[str, str, str]] = {
    "hooks": ("", "", 'seen[name]["hooks"] = sorted(hooks.heard)'),
    "spans": ("spans.begun.clear()\nspans.ended.clear()", "", 'seen[name]["spans"] = spans.seen()'),
    "streamed": ("names = []",
                 'names += [event.name] if event.type == "run_item_stream_event" else []',
                 'seen[name]["streamed"] = names'),
    "usage": ("", "", '''\
if hasattr(result, "context_wrapper"):
    usage = result.context_wrapper.usage
    seen[name]["usage"] = [usage.requests, usage.input_tokens, usage.output_tokens]'''),
    "items": ("", "", '''\
if told is not None:
    seen[name]["items"] = [item.type for item in told.new_items]'''),
    "responses": ("", "", '''\
if told is not None:
    seen[name]["responses"] = len(told.raw_responses)'''),
    "guardrails": ("", "", '''\
if told is not None:
    kinds = ("input", "output", "tool_input", "tool_output")
    seen[name]["guardrails"] = sorted(
        one.guardrail.get_name() for kind in kinds
        for one in getattr(told, f"{kind}_guardrail_results", ()))'''),
}


def run(config: Mapping[str, str], facts: Collection[str], hooks: str | None) -> str:
    """The function that runs an agent.

    Args:
        config: what ``RunConfig`` is given.
        facts: what is to be seen of a run.
        hooks: how the hooks of a run are made, if it has any.
    """
    before: list[str] = []
    each: list[str] = []
    after: list[str] = []
    if hooks is not None:
        before.append(f'options["hooks"] = hooks = {hooks}')
    for fact in _OBSERVED:
        if fact in facts:
            for lines, text in zip((before, each, after), _OBSERVED[fact], strict=True):
                lines += text.splitlines()
    text = _RUN.replace("{config}", ", ".join(f"{key}={value}" for key, value in config.items()))
    text = text.replace("{each}", "; ".join(each) or "pass")
    for name, lines in (("{before}", before), ("{after}", after)):
        text = text.replace(name, "".join(f"    {line}\n" for line in lines))
    return text
