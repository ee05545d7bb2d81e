"""The only room that imports the Agents SDK.

It imports of ours only `plan.model`, `plan.parts`, `plan.items`, `record.events`, `shape` and
`errors`, and nothing third-party but the SDK and what its interface is made of (openai's types,
pydantic), so that `worker` runs by its path inside any release's environment.
"""
