"""Overrides in S3 and what speaks like it, for workers that share nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from burnish.domain import Clock
from burnish.overrides.buckets import open_bucket
from burnish.overrides.object_documents import ObjectDocuments
from burnish.overrides.redis_retry import Patience
from burnish.overrides.tag_store import TagStore

if TYPE_CHECKING:
    from obstore.store import ObjectStore


class S3PromptOverridesStore(TagStore):
    """A PromptOverridesStore on an object store of `obstore`: `namespace/key/tag.json` in it.

    The server must know conditional writes (If-Match, If-None-Match), as Amazon S3, MinIO, R2,
    Google Cloud Storage and Azure do: they are what keeps writers from losing each other's work.
    """

    def __init__(
        self, bucket: ObjectStore, *, patience: Patience | None = None, clock: Clock | None = None
    ) -> None:
        super().__init__(ObjectDocuments(bucket, patience=patience, clock=clock))

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        patience: Patience | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> Self:
        """On an address such as `s3://bucket/folder`.

        Settings are those of `obstore.store.S3Store`: region, endpoint, access_key_id and so on.
        What is not given comes from the environment (AWS_REGION, AWS_ACCESS_KEY_ID and so on).
        """
        return cls(open_bucket(url, settings), patience=patience, clock=clock)
