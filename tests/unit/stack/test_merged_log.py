import io

from chargehand.stack.log import MergedLog


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_lines_stand_below_each_other_whatever_the_names_length() -> None:
    stream = io.StringIO()
    log = MergedLog(stream, ["redis", "security-12"])

    log.write("redis", "one")
    log.write("security-12", "two")
    log.say("three\nfour")

    assert stream.getvalue().splitlines() == [
        "redis       | one",
        "security-12 | two",
        "chargehand  | three",
        "chargehand  | four",
    ]


def test_a_secret_is_never_shown() -> None:
    stream = io.StringIO()
    log = MergedLog(stream, ["redis"])
    log.hide("s3cret")

    shown = log.write("redis", "at redis://:s3cret@127.0.0.1")

    assert shown == "at redis://:***@127.0.0.1"
    assert "s3cret" not in stream.getvalue()


def test_a_terminal_sees_colours_but_no_command_that_a_child_printed(monkeypatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()

    shown = MergedLog(stream, ["redis"]).write("redis", "\x1b[2Jgone\ttab")

    assert shown == "\ufffd[2Jgone\ttab"
    assert "\x1b[36mredis" in stream.getvalue()
    assert "\x1b[2J" not in stream.getvalue()


def test_a_long_line_is_neither_wrapped_nor_cut() -> None:
    stream = io.StringIO()

    MergedLog(stream, ["redis"]).write("redis", "x" * 5000)

    assert "x" * 5000 in stream.getvalue()


def test_words_in_square_brackets_are_shown_as_they_are() -> None:
    stream = io.StringIO()

    MergedLog(stream, ["redis"]).write("redis", "[bold]INFO[/bold] :smile:")

    assert "[bold]INFO[/bold] :smile:" in stream.getvalue()


def test_a_reader_that_has_gone_does_not_stop_the_draining() -> None:
    log = MergedLog(ClosedPipe(), ["redis"])

    assert log.write("redis", "one") == "one"
    assert log.write("redis", "two") == "two"
