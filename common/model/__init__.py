"""The one door to the model: requests in our words go in, replies and our own errors come out."""

from common.model.door import Door, door
from common.model.fence import Fence
from common.model.words import Reply, Request, ToolCall, ToolSpec

__all__ = ["Door", "Fence", "Reply", "Request", "ToolCall", "ToolSpec", "door"]
