"""The part that every standalone script has: a scripted model, a session, and what is seen."""

IMPORTS = '''\
import asyncio

from agents import (
{names}
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
'''

MODEL = '''\
seen = {}  # what happened, by run
started = []  # tools, in the order in which they were started
given = []  # what each model call was given: the agent, the items


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
        return self.turns.pop(0)

    async def get_response(self, system_instructions, input, *args, **kwargs):
        return ModelResponse(output=self.answer(input), usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        response = Response(
            id="response", created_at=0, model="scripted", object="response",
            output=self.answer(input), tool_choice="auto", tools=[], parallel_tool_calls=True)
        yield ResponseCompletedEvent(
            type="response.completed", sequence_number=0, response=response)


def say(text, id):
    part = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return ResponseOutputMessage(
        id=id, type="message", role="assistant", status="completed", content=[part])


def call(name, call_id, arguments="{}"):
    return ResponseFunctionToolCall(
        id=f"fc-{call_id}", type="function_call", call_id=call_id, name=name,
        arguments=arguments, status="completed")
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

RUN = '''\
async def run(name, agent, input, *, streamed=False, session=None, **options):
    """Run the agent and keep what can be seen of it in `seen[name]`."""
    started.clear()
    given.clear()
    result, outcome = None, "completed"
    options["run_config"] = RunConfig(tracing_disabled=True)
    if session is not None:
        options["session"] = session
    try:
        if streamed:
            result = Runner.run_streamed(agent, input, **options)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, input, **options)
    except Exception as error:
        result, outcome = None, f"raised {type(error).__name__}"
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
    return result


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
