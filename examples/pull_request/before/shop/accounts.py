"""Who is signed in, and what they may do."""

from functools import wraps

from flask import abort, session


def staff_only(view):
    """Refuse everyone who is not signed in as staff."""

    @wraps(view)
    def guarded(*args, **kwargs):
        if session.get("role") != "staff":
            abort(403)
        return view(*args, **kwargs)

    return guarded
