from chargehand.stack.restart import Streak


def _after(*lives: float) -> Streak:
    streak = Streak()
    for lived in lives:
        streak = streak.after(lived)
    return streak


def test_the_delay_doubles_from_half_a_second_to_ten() -> None:
    delays = [_after(*[1.0] * deaths).delay for deaths in range(1, 8)]

    assert delays == [0.5, 1, 2, 4, 8, 10, 10]


def test_the_delay_stays_the_same_after_very_many_deaths() -> None:
    assert _after(*[0.1] * 5000).delay == 10


def test_a_minute_of_health_starts_the_delays_over() -> None:
    assert _after(1.0, 1.0, 1.0, 60.0).delay == 0.5


def test_three_deaths_at_once_are_worth_saying() -> None:
    said = [_after(*[0.1] * deaths).worth_saying for deaths in range(1, 7)]

    assert said == [False, False, True, False, False, True]


def test_deaths_after_some_work_are_not_called_deaths_at_once() -> None:
    assert not _after(0.1, 0.1, 20.0).worth_saying
    assert not _after(20.0, 20.0, 20.0).worth_saying
