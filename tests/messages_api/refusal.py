"""How the API says no: a status, the type of the error, and a sentence that names the value."""

from typing import Any

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Refused(Exception):
    """A request that the API answers with an error."""

    def __init__(self, message: str, status: int = 400, error_code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.error_code = error_code


def error_body(
    status: int, message: str, request_id: str, error_code: str | None = None
) -> dict[str, Any]:
    """Return the JSON of an error answer."""
    error: dict[str, Any] = {"type": ERROR_TYPES.get(status, "api_error"), "message": message}
    if error_code is not None:
        error["details"] = {"error_code": error_code}
    return {"type": "error", "error": error, "request_id": request_id}
