from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from registry.packages.problems import refuse

log = logging.getLogger(__name__)
_ATTEMPTS = 3
_IN_MEMORY = 8 * 2**20  # bytes held before a stream goes through a temporary file


class Bucket:
    """Blobs as ``<prefix>/ab/cd/<key>`` in an S3 bucket; an object is there whole or not at all."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self.bucket = bucket
        self.prefix = f"{prefix}/" if prefix else ""
        self.client = _client(
            settings.SKILLQUAY_S3_ENDPOINT,
            settings.SKILLQUAY_S3_REGION,
            settings.SKILLQUAY_S3_ACCESS_KEY,
            settings.SKILLQUAY_S3_SECRET_KEY,
        )

    @contextmanager
    def incoming(self) -> Iterator[_IncomingObject]:
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
            yield _IncomingObject(self, file)

    def open(self, key: str) -> BinaryIO:
        file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  (the caller closes it)
        try:
            with _answering():
                self.client.download_fileobj(self.bucket, self.name(key), file)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return cast(BinaryIO, file)

    def exists(self, key: str) -> bool:
        return self.modified(key) is not None

    def local_path(self, key: str) -> Path | None:
        return None

    def older_than(self, age: timedelta) -> Iterator[tuple[str, int]]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix)
        with _answering():
            items = [item for page in pages for item in page.get("Contents", ())]
        for item in items:
            if _age(item["LastModified"]) >= age:
                yield item["Key"].rsplit("/", 1)[-1], item["Size"]

    def remove(self, key: str, age: timedelta) -> bool:
        """S3 has no lock: what is stored again between look and removal is lost (docs/operations.md)."""
        modified = self.modified(key)
        if modified is None or _age(modified) < age:
            return False
        with _answering():
            self.client.delete_object(Bucket=self.bucket, Key=self.name(key))
        return True

    def remove_leftovers(self, age: timedelta) -> int:
        """Aborts the multipart uploads of processes that died: a bucket bills them and lists them nowhere."""
        with _answering():
            pages = self.client.get_paginator("list_multipart_uploads").paginate(
                Bucket=self.bucket, Prefix=self.prefix
            )
            dead = [u for page in pages for u in page.get("Uploads", ()) if _age(u["Initiated"]) >= age]
            for upload in dead:
                self.client.abort_multipart_upload(
                    Bucket=self.bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                )
        return len(dead)

    def modified(self, key: str) -> datetime | None:
        with suppress(FileNotFoundError), _answering():
            head = self.client.head_object(Bucket=self.bucket, Key=self.name(key))
            return cast(datetime, head["LastModified"])
        return None

    def name(self, key: str) -> str:
        return f"{self.prefix}{key[:2]}/{key[2:4]}/{key}"


class _IncomingObject:
    def __init__(self, bucket: Bucket, file: tempfile.SpooledTemporaryFile[bytes]) -> None:
        self.bucket, self.file = bucket, file

    def write(self, chunk: bytes) -> None:
        self.file.write(chunk)

    def keep_as(self, key: str) -> None:
        self.file.seek(0)
        with _answering():
            self.bucket.client.upload_fileobj(self.file, self.bucket.bucket, self.bucket.name(key))


@cache
def _client(endpoint: str, region: str, access_key: str, secret_key: str) -> Any:
    """A client with the keys named for this bucket: the host's own are never looked for."""
    if not (access_key and secret_key):
        raise ImproperlyConfigured(
            "STORAGE_URL needs SKILLQUAY_S3_ACCESS_KEY and SKILLQUAY_S3_SECRET_KEY. See docs/operations.md."
        )
    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(
            connect_timeout=10, read_timeout=60, retries={"max_attempts": _ATTEMPTS, "mode": "standard"}
        ),
    )


@contextmanager
def _answering() -> Iterator[None]:
    """FileNotFoundError for an object that is not there; for all else UNAVAILABLE, and why in the log."""
    try:
        yield
    except (BotoCoreError, Boto3Error, ClientError) as error:
        code = error.response.get("Error", {}).get("Code") if isinstance(error, ClientError) else None
        if code in {"404", "NoSuchKey", "NotFound"}:
            raise FileNotFoundError(str(error)) from error
        log.warning("STORAGE_URL does not answer: %s", error)
        raise refuse("UNAVAILABLE") from error


def _age(moment: datetime) -> timedelta:
    return datetime.now(UTC) - moment
