"""Functions that plans call: what the SDK does outside of a run, each one small question.

They run inside the environment of any release, so what not every release has is imported where it
is used; a plan is `UNTESTABLE` on a release that lacks it. What they give is JSON without a null.
"""
