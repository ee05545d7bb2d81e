"""Recording live agents into run files::

    from agentrunproof.recorders import record

    with record("inbox") as rec:
        client = rec.wrap(OpenAI())
        ...

Importing this imports none of the libraries that it can record.
"""

from agentrunproof.recorders.recorder import Recorder, record, trace_processor

__all__ = ["Recorder", "record", "trace_processor"]
