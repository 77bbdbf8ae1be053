"""Claims about stored bodies; `tests/integration/store` runs them on a real Redis, too."""

import pytest
import redis

from common import names
from common.errors import InputError
from common.store import Store
from common.store.blobs import ref
from tests.conftest import TTL


def test_bodies_are_found_by_their_references(store: Store) -> None:
    bodies = ["x" * 100_000, "ünïcode\n", ""]

    store.blobs.put(bodies)

    found = store.blobs.get([ref(body) for body in bodies])
    assert found == {ref(body): body for body in bodies}


def test_the_same_text_is_stored_once_and_kept_for_longer(
    store: Store, redis_client: redis.Redis
) -> None:
    store.blobs.put(["a"])
    redis_client.expire(names.BLOBS + ref("a"), 5)

    store.blobs.put(["a", "a"])

    assert len(redis_client.keys(f"{names.BLOBS}*")) == 1
    assert 5 < redis_client.ttl(names.BLOBS + ref("a")) <= TTL


def test_a_missing_body_is_named_with_the_remedy(store: Store) -> None:
    store.blobs.put(["a"])

    with pytest.raises(InputError) as refused:
        store.blobs.get([ref("a"), ref("b")])

    assert str(refused.value) == f"body {ref('b')} is not stored any more; submit the job again"


def test_an_altered_body_is_refused(store: Store, redis_client: redis.Redis) -> None:
    store.blobs.put(["a"])
    redis_client.set(names.BLOBS + ref("a"), "forged")

    with pytest.raises(InputError, match="was altered in the store; submit the job again"):
        store.blobs.get([ref("a")])


def test_nothing_asked_is_nothing_found(store: Store) -> None:
    store.blobs.put([])

    assert store.blobs.get([]) == {}
